// "Take a picture": a dialog with the camera's live picture. Whatever ends the dialog, the camera is switched off.

import { errorLine, openDialog } from "./dialog.js";
import { button, h } from "./dom.js";

/** What is asked of the camera: on a phone the one at its back; more pixels than a model sees would only cost time. */
const WANTED = { video: { facingMode: { ideal: "environment" }, width: { ideal: 1920 }, height: { ideal: 1080 } }, audio: false };
const QUALITY = 0.92;

/** Whether this browser gives pages a camera: it does so at this machine's own address and over https only. */
export const hasCamera = () => typeof navigator.mediaDevices?.getUserMedia === "function";

/** Why there is no picture, in a sentence that says what to do. `name`: the name of the browser's error. */
export function cameraWords(name) {
  if (name === "NotAllowedError" || name === "SecurityError") return "The browser does not let this page use the camera. Allow it beside the page's address, then try again.";
  if (name === "NotFoundError" || name === "OverconstrainedError") return "No camera was found. Connect one, then try again, or choose a file instead.";
  if (name === "NotReadableError" || name === "AbortError") return "The camera does not start: another program may be using it. Close that program, then try again.";
  return "The camera gave no picture. Try again, or choose a file instead.";
}

/** Opens the dialog; take(file) gets the picture, a JPEG file. */
export function openCamera(root, take) {
  const video = h("video", { class: "cs-camera-video", muted: true, playsinline: true, "aria-label": "What the camera sees" });
  // The attribute alone does not mute an element that is made by script.
  video.muted = true;
  const error = errorLine();
  let stream = null;
  let closed = false;
  const off = () => {
    closed = true;
    for (const track of stream?.getTracks() ?? []) track.stop();
    video.srcObject = null;
  };
  const shoot = button("is-primary", "Take", { disabled: true, onclick: () => photograph() });
  const again = button("", "Try again", { hidden: true, onclick: () => start() });
  const cancel = button("", "Cancel", { onclick: () => close() });
  const { close } = openDialog(root, { title: "Take a picture", classes: "is-wide", body: [h("div", { class: "cs-camera" }, video), error.el], acts: [cancel, again, shoot], onClose: off });

  function failed(name) {
    if (closed) return;
    error.say(cameraWords(name));
    again.hidden = false;
    shoot.disabled = true;
    again.focus();
  }

  async function start() {
    error.say("");
    again.hidden = true;
    try {
      const given = await navigator.mediaDevices.getUserMedia(WANTED);
      stream = given;
      // The dialog may be gone by the time a person has allowed it.
      if (closed) return off();
      given.getVideoTracks()[0].addEventListener("ended", () => failed("NotReadableError"));
      video.srcObject = given;
      await video.play();
    } catch (failure) {
      console.warn("no camera", failure);
      return failed(failure.name);
    }
    if (closed) return;
    shoot.disabled = false;
    shoot.focus();
  }

  async function photograph() {
    shoot.disabled = true;
    const canvas = h("canvas", { width: video.videoWidth, height: video.videoHeight });
    canvas.getContext("2d").drawImage(video, 0, 0);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", QUALITY));
    if (closed) return;
    if (!blob) return failed("");
    const at = new Date().toLocaleTimeString("en-GB").replaceAll(":", ".");
    take(new File([blob], `camera ${at}.jpg`, { type: "image/jpeg" }));
    close();
  }

  start();
}
