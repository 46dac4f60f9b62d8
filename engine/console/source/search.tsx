// Page Search: a query, its hits, and its way through the engine.
import { useEffect, useRef, useState } from "preact/hooks";
import { call, indexPath, Problem, tablePath } from "./api";
import { Explanation } from "./explain";
import { both, count, several, time } from "./format";
import { Examples } from "./examples";
import { Export, History, remember } from "./history";
import { Choice, Curl, Failure, Panel, Text, useCheck, useLoad } from "./parts";
import type { Answer, Device, Hit, Index, Parsed, Table } from "./types";

interface Setting { algorithm: string; processor: string; variant: string; fresh: boolean }
interface Outcome { setting: Setting; path: string; body: object; answer?: Answer; error?: Problem; text?: string }

const algorithms = ["auto", "bs", "is", "lr", "lrseg", "hs8", "hs16", "hs32", "hs64", "hs128", "hs256"];
const variants = ["lucene", "robertson", "atire", "pisa"];
const usual: Setting = { algorithm: "auto", processor: "", variant: "lucene", fresh: false };

// settingsOf reads the settings of an address.
function settingsOf(text: string | null): Setting[] {
  try {
    const all = JSON.parse(text ?? "") as Partial<Setting>[];
    return all.slice(0, 2).map((s) => ({ ...usual, ...s }));
  } catch {
    return [usual];
  }
}

// Restriction is a predicate on the attributes of documents, and the columns to count. An index has no
// table of another name than its own unless one is chosen.
interface Restriction { table: string; where: string; facets: string }

// facetColumn is the next column of a list. It is in quotes, with two quotes for a quote, or has commas
// between brackets alone, as in bins(year, 1900). `heddle search --facets` has the same expression.
const facetColumn = /\s*(?:"((?:[^"]|"")+)"|((?:\((?:"[^"]*"|'[^']*'|[^)"'])*\)?|[^,(])*))\s*(?:,|$)/gy;

// restrictionOf returns the members of a request for a restriction.
function restrictionOf(r: Restriction): object {
  const table = r.table ? { table: r.table } : {};
  const columns = [...r.facets.matchAll(facetColumn)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain.trim()).filter((c) => c);
  return { ...(r.where.trim() ? { filter: { where: r.where, ...table } } : {}), ...(columns.length ? { facets: { columns, ...table } } : {}) };
}

// bodyOf returns the request of a query under a setting.
function bodyOf(query: string, mode: string, ranked: boolean, k: number, s: Setting, r: Restriction): object {
  const body: Record<string, unknown> = { query, mode, ...restrictionOf(r) };
  if (ranked) {
    body.k = k;
    if (s.variant !== usual.variant) body.scoring = { variant: s.variant };
  } else {
    body.limit = k;
    if (s.algorithm !== "auto") body.algorithm = s.algorithm;
  }
  if (s.processor) body.processor = s.processor;
  if (s.fresh) body.fresh = true;
  return body;
}

export function Search({ parameters }: { parameters: URLSearchParams }) {
  const indexes = useLoad<{ indexes: Index[] }>("/v1/indexes");
  const tables = useLoad<{ tables: Table[] }>("/v1/tables");
  const devices = useLoad<{ devices: Device[] }>("/v1/devices");
  const [index, setIndex] = useState(parameters.get("index") ?? "");
  const [query, setQuery] = useState(parameters.get("query") ?? "");
  const [mode, setMode] = useState(parameters.get("mode") ?? "or");
  const [ranked, setRanked] = useState(parameters.get("ranked") !== "no");
  const [k, setK] = useState(Number(parameters.get("k")) || 10);
  const [restriction, setRestriction] = useState<Restriction>({ table: parameters.get("table") ?? "", where: parameters.get("where") ?? "", facets: parameters.get("facets") ?? "" });
  const [settings, setSettings] = useState<Setting[]>(settingsOf(parameters.get("settings")));
  const [outcomes, setOutcomes] = useState<Outcome[]>([]);
  const [running, setRunning] = useState(false);
  const names = indexes.value?.indexes.filter((x) => x.ready).map((x) => x.name) ?? [];
  const name = names.includes(index) ? index : names[0] ?? "";
  const collection = !!indexes.value?.indexes.find((x) => x.name === name)?.collection; // its segments choose algorithms and processors, and have attributes of their own
  const modes = ranked ? ["or", "and", "and-or"] : ["or", "and"];
  const turn = useRef(0);

  const parsed = useCheck<Parsed>(name && indexPath(name, "parse"), query, { query, mode });
  const table = collection ? name : restriction.table || name;
  const checked = useCheck(table && tablePath(table, "parse"), restriction.where, { where: restriction.where });

  // run answers a text under a restriction: those of the form, or those of a link of the page.
  async function run(text = query, within = restriction) {
    if (!name || !text.trim()) return;
    const mine = ++turn.current;
    const kept = new URLSearchParams({ index: name, query: text, mode, k: String(k), ranked: ranked ? "yes" : "no" });
    for (const [member, value] of Object.entries(within)) if (value) kept.set(member, value);
    if (JSON.stringify(settings) !== JSON.stringify([usual])) kept.set("settings", JSON.stringify(settings));
    remember(`#/search?${kept}`, [name, text, within.where].filter((t) => t).join(" · "));
    setRunning(true);
    const all: Outcome[] = [];
    const whole = collection ? { ...within, table: "" } : within;
    for (const chosen of settings) { // one after the other, so that neither disturbs the time of the other
      const setting = collection ? { ...chosen, algorithm: usual.algorithm, processor: usual.processor } : chosen;
      const body = bodyOf(text, mode, ranked, k, setting, whole);
      const path = indexPath(name, "inspect");
      try {
        all.push({ setting, path, body, answer: await call<Answer>(path, body) });
      } catch (e) {
        all.push(e instanceof Problem && e.code === "unsupported" ? await fromCluster(setting, e, text, within) : { setting, path, body, error: e as Problem });
      }
    }
    if (mine === turn.current) {
      setOutcomes(all);
      setRunning(false);
    }
  }

  // An index whose shards lie in a cluster has an answer with an explanation in words alone.
  async function fromCluster(setting: Setting, refused: Problem, query: string, restriction: Restriction): Promise<Outcome> {
    const path = indexPath(name, ranked ? "search" : "match");
    const { facets, ...filter } = restrictionOf({ ...restriction, table: "" }) as { facets?: object };
    const body = { query, mode, explain: true, ...filter, ...(ranked ? { k, ...(facets ? { facets } : {}) } : { limit: k }) };
    try {
      const r = await call<{ count?: number; hits?: Hit[]; documents?: Hit[]; facets?: Answer["facets"]; explanation?: string; took_ms: number; queued_ms: number }>(path, body);
      const hits = (r.hits ?? r.documents ?? []).map((h) => ({ ...h, text: [] }));
      return { setting, path, body, text: r.explanation ?? refused.message, answer: { count: r.count ?? hits.length, hits, facets: r.facets, lists: [], unknown: [], way: { took_ms: r.took_ms, queued_ms: r.queued_ms } as Answer["way"] } };
    } catch (e) {
      return { setting, path, body, error: e as Problem };
    }
  }

  const began = useRef(false);
  useEffect(() => {
    if (name && query && !began.current && parameters.get("query")) {
      began.current = true;
      run();
    }
  }, [name]);

  // drill adds the first of some predicates that the table knows to the filter: a value may be a number or a text.
  async function drill(predicates: string[]) {
    let chosen = predicates[0];
    for (const where of predicates) {
      if (await call(tablePath(table, "parse"), { where }).then(() => true, () => false)) {
        chosen = where;
        break;
      }
    }
    const next = { ...restriction, where: both(restriction.where, chosen) };
    setRestriction(next);
    run(query, next);
  }

  const change = (i: number, part: Partial<Setting>) => setSettings(settings.map((s, j) => (j === i ? { ...s, ...part } : s)));
  const processors: [string, string][] = [["", "scheduler's choice"], ...(devices.value?.devices ?? []).map((d): [string, string] => [d.name, d.name])];
  const first = outcomes[0];
  // A fault of the filter has its place in the filter. That of a facet has no place in either.
  const faulty = (e: Problem) => (/^([a-z ]*: )?facet /.test(e.message) ? undefined : /(^|: )filter: /.test(e.message) ? restriction.where : query);
  const restrict = (part: Partial<Restriction>) => setRestriction({ ...restriction, ...part });
  if (indexes.error) return <Failure error={indexes.error} />;
  return (
    <>
      <form class="panel query" onSubmit={(e) => { e.preventDefault(); run(); }}>
        <div class="line">
          <Choice label="Index" value={name} options={names.length ? names : ["no index"]} onChange={setIndex} />
          <label class="field wide"><span>Query</span>
            <input class="code" value={query} spellcheck={false} autocomplete="off" autocapitalize="none" aria-invalid={!!parsed.wrong} aria-describedby="syntax"
              placeholder="faith hope, +heaven -hell, (sea OR earth) AND heaven" onInput={(e) => setQuery(e.currentTarget.value)} />
          </label>
          <Choice label="Answer" value={ranked ? "ranked" : "matches"} options={["ranked", "matches"]}
            onChange={(v) => { setRanked(v === "ranked"); if (mode === "and-or") setMode("or"); }} />
          <Choice label="Mode" value={mode} options={modes} onChange={setMode} />
          <label class="field small"><span>{ranked ? "k" : "Limit"}</span>
            <input type="number" min="1" max="1000" value={k} onInput={(e) => setK(Math.max(1, Math.min(1000, e.currentTarget.valueAsNumber || 1)))} />
          </label>
          <button class="primary" disabled={running || !name}>Search</button>
          <History page="search" />
        </div>
        <div id="syntax" class="syntax" aria-live="polite">
          {parsed.wrong ? <Failure error={parsed.wrong} text={query} /> : query.trim() && parsed.last ? <Preview of={parsed.last} /> : <p class="hint">Words, "+must", "-not", AND, OR, NOT, (…), pre* and weight^2</p>}
        </div>
        <div class="line">
          <label class="field wide"><span>Filter</span>
            <input class="code" id="where" value={restriction.where} spellcheck={false} autocomplete="off" autocapitalize="none" aria-invalid={!!checked.wrong} aria-describedby="fault"
              placeholder="year >= 2001 AND lang = 'de'" onInput={(e) => restrict({ where: e.currentTarget.value })} />
          </label>
          <label class="field"><span>Facets</span>
            <input class="code" id="facets" value={restriction.facets} spellcheck={false} autocomplete="off" autocapitalize="none"
              placeholder="lang, bins(year, 1900, 1950)" onInput={(e) => restrict({ facets: e.currentTarget.value })} />
          </label>
          {!collection && <Choice label="Attributes" value={restriction.table} options={[["", "of the index"], ...(tables.value?.tables ?? []).map((t): [string, string] => [t.name, t.name])]} onChange={(table) => restrict({ table })} />}
        </div>
        <div id="fault" aria-live="polite"><Failure error={checked.wrong} text={restriction.where} /></div>
        {settings.map((s, i) => (
          <fieldset class="line setting" key={i}>
            <legend>{settings.length > 1 ? `Setting ${"AB"[i]}` : "Setting"}</legend>
            {ranked
              ? <Choice label="Scoring" value={s.variant} options={variants} onChange={(variant) => change(i, { variant })} />
              : !collection && <Choice label="Algorithm" value={s.algorithm} options={algorithms} onChange={(algorithm) => change(i, { algorithm })} />}
            {!collection && <Choice label="Processor" value={s.processor} options={processors} onChange={(processor) => change(i, { processor })} />}
            <label class="check"><input type="checkbox" checked={s.fresh} onChange={(e) => change(i, { fresh: e.currentTarget.checked })} /> bypass the cache of answers</label>
            {i === settings.length - 1 &&
              <button type="button" onClick={() => setSettings(settings.length > 1 ? [settings[0]] : [settings[0], { ...settings[0], fresh: true }])}>
                {settings.length > 1 ? "Remove setting B" : "Compare with a second setting"}
              </button>}
          </fieldset>))}
      </form>
      {!first && !running && name && !query && <Examples key={name} index={name} documents={indexes.value!.indexes.find((x) => x.name === name)!.docs} onChoose={(q) => { setQuery(q); run(q); }} />}
      {outcomes.length === 2 && first.answer && outcomes[1].answer && <Comparison a={first.answer} b={outcomes[1].answer} />}
      {first && (
        <div class="columns">
          <div class="column">
            {first.error ? <Panel title="Hits"><Failure error={first.error} text={faulty(first.error)} /></Panel> : <Hits of={first.answer!} ranked={ranked} />}
            {first.answer?.facets && <Facets of={first.answer.facets} onChoose={drill} />}
          </div>
          <div class="column">
            {outcomes.map((o, i) => (
              <Panel key={i} class="way" title={outcomes.length > 1 ? `Way of setting ${"AB"[i]}` : "Way through the engine"} aside={<Curl path={o.path} body={o.body} />}>
                {o.error ? <Failure error={o.error} text={faulty(o.error)} /> : o.text ? <pre class="words">{o.text}</pre> : <Explanation of={o.answer!} ranked={ranked} />}
              </Panel>))}
          </div>
        </div>)}
    </>
  );
}

// Preview lists the terms of the query while it is typed.
function Preview({ of }: { of: Parsed }) {
  return (
    <p class="preview">
      {of.lists.slice(0, 12).map((l) => <span class="term" key={l.term}><Text of={l.term} /> <small>{count(l.documents)}</small></span>)}
      {of.lists.length > 12 && <span class="term">and {of.lists.length - 12} more</span>}
      {of.unknown.map((t) => <span class="term unknown" key={t}><Text of={t} /> <small>in no document</small></span>)}
    </p>
  );
}

function Hits({ of, ranked }: { of: Answer; ranked: boolean }) {
  return (
    <Panel title={ranked ? "Best documents" : "Matching documents"}
      aside={<span class="total" id="count"><b>{count(of.count)}</b> {of.count === 1 ? "document" : "documents"} in {time(of.way.took_ms)} <Export name="hits" rows={of.hits.map((h, i) => ({ rank: i + 1, doc: h.doc ?? "", id: h.id, ...(ranked && { score: h.score }), text: h.text.map((t) => t.text).join("") }))} /></span>}>
      {of.hits.length === 0 && <p class="hint">No document.</p>}
      <ol class="hits">
        {of.hits.map((h) => (
          <li key={h.id}>
            <div class="hit"><b><Text of={h.doc || `#${h.id}`} /></b><small>#{h.id}</small>{ranked && <span class="score">{h.score.toFixed(4)}</span>}</div>
            {h.text.length > 0 &&
              <p>{h.cut_before && "… "}{h.text.map((t, i) => (t.marked ? <mark key={i}><Text of={t.text} /></mark> : <Text key={i} of={t.text} />))}{h.cut_after && " …"}</p>}
          </li>))}
      </ol>
    </Panel>
  );
}

// predicatesOf returns predicates for the documents of a value or bin of a facet, as a text and as a number.
function predicatesOf(column: string, v: { value?: string; missing: boolean }): string[] {
  const bins = /^bins\((?:"((?:[^"]|"")+)"|([^",]+))/.exec(column);
  const name = `"${(bins ? bins[1]?.replaceAll('""', '"') ?? bins[2].trim() : column).replaceAll('"', '""')}"`;
  if (v.missing) return [`${name} IS NULL`];
  const value = v.value ?? "";
  return [(t: string) => `'${t.replaceAll("'", "''")}'`, (t: string) => t].map((literal) => {
    const edges = bins && (/^(<|>=) (.*)$/s.exec(value) ?? /^\[(.*), (.*)\)$/s.exec(value));
    if (!edges) return `${name} = ${literal(value)}`;
    return value.startsWith("[") ? `${name} >= ${literal(edges[1])} AND ${name} < ${literal(edges[2])}` : `${name} ${edges[1]} ${literal(edges[2])}`;
  });
}

// Facets lists the most frequent values of each column. A value leads to its documents.
function Facets({ of, onChoose }: { of: NonNullable<Answer["facets"]>; onChoose: (predicates: string[]) => void }) {
  return (
    <Panel title="Facets" aside={<span class="total"><b>{count(of.matches)}</b> matching documents</span>}>
      {(of.columns ?? []).map((f) => (
        <section class="facet" key={f.column}>
          <h3><Text of={f.column} /> <small>{several(f.distinct, f.column.startsWith("bins(") ? "bin" : "value")} with documents</small></h3>
          <p class="preview">
            {f.values.map((v, i) => (
              <button type="button" class={v.missing ? "term unknown" : "term"} key={i} disabled={v.count === 0} onClick={() => onChoose(predicatesOf(f.column, v))}>
                {v.missing ? "no value" : v.value === "" ? "empty text" : <Text of={v.value} />} <small>{count(v.count)}</small>
              </button>))}
          </p>
        </section>))}
    </Panel>
  );
}

// Comparison says how the answers and times of two settings differ.
function Comparison({ a, b }: { a: Answer; b: Answer }) {
  const equal = a.count === b.count && a.hits.every((h, i) => h.id === b.hits[i]?.id);
  const faster = a.way.took_ms <= b.way.took_ms ? "A" : "B";
  const ratio = Math.max(a.way.took_ms, b.way.took_ms) / Math.max(1e-9, Math.min(a.way.took_ms, b.way.took_ms));
  return (
    <p class="notice" role="status">
      {equal ? "Both settings return the same documents." : "The settings return different documents."} Setting {faster} took less time: {time(Math.min(a.way.took_ms, b.way.took_ms))}, {ratio.toFixed(1)} times as fast.
    </p>
  );
}
