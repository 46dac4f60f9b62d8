// The frame of the pages: navigation, theme, token.
import "uplot/style.css";
import "./style.css";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call, Problem, setToken } from "./api";
import { Cluster } from "./cluster";
import { Devices } from "./devices";
import { Keys } from "./keys";
import { Indexes } from "./indexes";
import { Live } from "./live";
import { Search } from "./search";
import { visits } from "./storage";
import { Tables } from "./tables";
import { Score, Way } from "./why";

// The last two pages explain an answer of the page Search, which leads to them.
const pages = { search: ["Search", Search], tables: ["Tables", Tables], live: ["Live", Live], devices: ["Devices", Devices], cluster: ["Cluster", Cluster], indexes: ["Indexes", Indexes], score: ["Why this score", Score], way: ["Why this way", Way] } as const;
type Name = keyof typeof pages;
const listed = (Object.keys(pages) as Name[]).slice(0, -2);

// The address of a page is #/NAME?PARAMETERS.
function placeOf(hash: string): { name: Name; parameters: URLSearchParams } {
  const [name, text] = hash.replace(/^#\/?/, "").split("?");
  return { name: name in pages ? (name as Name) : "search", parameters: new URLSearchParams(text ?? "") };
}

const themes = ["auto", "light", "dark"] as const;
type Theme = (typeof themes)[number];

function setTheme(theme: Theme) {
  document.documentElement.dataset.theme = theme;
  visits.set("heddle-theme", theme);
  dispatchEvent(new Event("themed"));
}

function Token({ onSet }: { onSet: () => void }) {
  const [text, setText] = useState("");
  return (
    <form class="panel token" onSubmit={(e) => { e.preventDefault(); setToken(text.trim()); onSet(); }}>
      <h1>Token</h1>
      <p>This server answers callers with a token (<code>heddle serve token</code>). The page keeps it until its tab is closed.</p>
      <label class="field"><span>Token</span><input type="password" autocomplete="off" value={text} onInput={(e) => setText(e.currentTarget.value)} /></label>
      <button class="primary">Use token</button>
    </form>
  );
}

function Console() {
  const [place, setPlace] = useState(placeOf(location.hash));
  const [theme, choose] = useState(document.documentElement.dataset.theme as Theme);
  const [state, setState] = useState<"checking" | "token" | "open">("checking");
  const [turn, setTurn] = useState(0);
  const [moves, setMoves] = useState(0); // an address of the same page, such as one of the history, makes the page anew
  useEffect(() => {
    const moved = () => { setPlace(placeOf(location.hash)); setMoves((n) => n + 1); };
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  useEffect(() => {
    call("/v1/indexes").then(() => setState("open"), (e: Problem) => setState(e.status === 401 ? "token" : "open"));
  }, [turn]);
  const [title, Page] = pages[place.name];
  useEffect(() => { document.title = `${title} – heddle`; }, [title]);
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")!.focus(); }}>Skip to content</a>
      <div class="frame">
        <header class="side">
          <a class="brand" href="#/search"><img src="icon.svg" alt="" width="24" height="24" />heddle</a>
          <nav aria-label="Pages">
            {listed.map((n) => <a key={n} href={`#/${n}`} aria-current={n === place.name ? "page" : undefined}>{pages[n][0]}</a>)}
          </nav>
          <label class="theme"><span>Theme</span>
            <select value={theme} onChange={(e) => { const t = e.currentTarget.value as Theme; setTheme(t); choose(t); }}>
              {themes.map((t) => <option key={t}>{t}</option>)}
            </select>
          </label>
        </header>
        <main id="main" tabIndex={-1}>
          {state === "token" ? <Token onSet={() => { setState("checking"); setTurn(turn + 1); }} />
            : state === "open" ? <><h1>{title}</h1><Page parameters={place.parameters} key={`${place.name} ${moves}`} /></> : null}
        </main>
        <Keys />
      </div>
    </>
  );
}

const kept = visits.get("heddle-theme") as Theme;
document.documentElement.dataset.theme = themes.includes(kept) ? kept : "auto";
const root = document.getElementById("console")!;
root.replaceChildren();
render(<Console />, root);
