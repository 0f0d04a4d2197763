// On every page, where people sign in: the name and "Sign out" at the end of the nav; and when the session has ended
// meanwhile, a bar that says so. The page stays as it is: signing in again in another tab makes it work again.
(() => {
  const root = () => (window.gradio_config?.root ?? "").replace(/\/+$/, "");
  const make = (tag, props, ...children) => {
    const el = Object.assign(document.createElement(tag), props);
    el.append(...children);
    return el;
  };

  const ask = window.fetch;
  let bar = null;
  window.fetch = async (...given) => {
    const reply = await ask(...given);
    if (new URL(reply.url || location.href, location.href).origin !== location.origin) return reply;
    if (reply.status === 401) ended();
    else if (bar && reply.ok) {
      bar.remove();
      bar = null;
    }
    return reply;
  };

  function ended() {
    if (bar) return;
    const link = make("a", { href: `${root()}/sign-in`, target: "_blank", textContent: "Sign in again" });
    bar = make("div", { className: "cs-signed-out" }, make("span", { textContent: "Your session has ended; nothing is saved until you sign in. " }), link);
    bar.setAttribute("role", "alert");
    bar.style.cssText = "position:fixed;inset:auto 0 0 0;z-index:100;padding:12px 16px;text-align:center;background:var(--ink);color:var(--on-ink);font:var(--t-body)/1.4 var(--face)";
    link.style.color = "inherit";
    document.body.append(bar);
  }

  async function show(nav) {
    const reply = await fetch(`${root()}/studio/me`);
    if (!reply.ok || nav.querySelector("[data-person]")) return;
    const { name } = await reply.json();
    if (!name) return;
    const form = make("form", { method: "post", action: `${root()}/sign-out`, className: "cs-line" });
    form.dataset.person = name;
    form.style.flexWrap = "nowrap";
    form.append(
      make("span", { className: "cs-small cs-dim cs-wide cs-nowrap", textContent: name }),
      make("button", { type: "submit", className: "cs-btn is-ghost is-small", title: `Signed in as ${name}`, textContent: "Sign out" }),
    );
    nav.prepend(form);
  }

  const found = () => document.querySelector(".cs-nav-end");
  // Gradio mounts the page later; a page has one nav for as long as it is shown.
  const watch = new MutationObserver(() => {
    if (!found()) return;
    watch.disconnect();
    show(found());
  });
  watch.observe(document, { childList: true, subtree: true });
  if (found()) {
    watch.disconnect();
    show(found());
  }
})();
