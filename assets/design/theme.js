// Light or dark: the person's choice where there is one, else the system's. The head's small script sets it before the
// first paint; here is the switch. Gradio's own class follows, so that its parts match.

const KEY = "clef-studio-theme";

export function currentTheme() {
  return document.documentElement.dataset.theme === "dark" ? "dark" : "light";
}

export function mountTheme(toggle) {
  const root = document.documentElement;
  const follow = () => document.body.classList.toggle("dark", currentTheme() === "dark");
  follow();
  new MutationObserver(() => document.body.classList.contains("dark") !== (currentTheme() === "dark") && follow()).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  toggle.addEventListener("click", () => {
    root.dataset.theme = currentTheme() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, root.dataset.theme);
    } catch (error) {
      console.warn("the theme was not kept", error);
    }
    follow();
  });
}
