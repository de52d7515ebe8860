// The script of a page: these files, one after the other, in one function scope. Each says what it adds; what is shown
// is decided in address.js, and the others follow it.
const root = document.documentElement;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
// Where the page is meant to be one screen, and whether it is: anywhere else it scrolls.
const isOneScreen = matchMedia("screen and (min-width: 1300px) and (min-height: 620px)");
const hasRoom = () => root.scrollHeight <= innerHeight;

// Interface texts that only the script says, in the language of the page. {name} stands for a value.
let texts = {};
const readTexts = () => {
  texts = JSON.parse(document.getElementById("texts").textContent);
};
const say = (key, values = {}) => texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);

// What has happened, for those who do not see it; a notice is for everyone, until something else has happened.
const statusLine = () => document.getElementById("status");
const closeNotice = () => document.querySelector("#status + button");
const putStatus = (text, css) => {
  statusLine().parentElement.className = css;
  closeNotice().hidden = css !== "notice";
  statusLine().textContent = text;
};
const announce = (text) => putStatus(text, "sr");
const notice = (text) => putStatus(text, "notice");
const isNotice = () => statusLine().parentElement.className === "notice";

const startParts = [];
