// Page Search: a query, its hits, and its way through the engine.
import type { ComponentChildren } from "preact";
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

// View is the order of a ranked query, and the parts of its reply. Before is the number of better documents on earlier
// pages, after the cursor behind them: an offset reaches the first 10,000 documents, a cursor all.
interface View { sort: string; total: string; fields: string; columns: string; before: number; after: string }

const mostOffset = 10000;

const listed = (text: string) => text.split(",").map((t) => t.trim()).filter((t) => t);

// viewOf returns the members of a request for a view. The mode and-or has no pages.
function viewOf(v: View, mode: string): object {
  const body: Record<string, unknown> = {};
  if (mode !== "and-or") Object.assign(body, v.after ? { after: v.after } : v.before ? { offset: v.before } : { after: "*" });
  if (v.total) body.total = v.total === "exact" || Number(v.total);
  for (const [member, text] of [["sort", v.sort], ["fields", v.fields], ["attributes", v.columns]]) if (listed(text).length) body[member] = listed(text);
  return body;
}

// bodyOf returns the request of a query under a setting.
function bodyOf(query: string, mode: string, ranked: boolean, k: number, s: Setting, r: Restriction, v: View): object {
  const body: Record<string, unknown> = { query, mode, ...restrictionOf(r) };
  if (ranked) {
    Object.assign(body, { k }, viewOf(v, mode));
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
  const [view, setView] = useState<View>({
    sort: parameters.get("sort") ?? "", total: parameters.get("total") ?? "", fields: parameters.get("fields") ?? "", columns: parameters.get("columns") ?? "",
    before: Number(parameters.get("before")) || 0, after: parameters.get("after") ?? "",
  });
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
  async function run(text = query, within = restriction, page = { before: 0, after: "" }) {
    if (!name || !text.trim() && !(ranked && view.sort.trim())) return;
    const mine = ++turn.current;
    const kept = new URLSearchParams({ index: name, query: text, mode, k: String(k), ranked: ranked ? "yes" : "no" });
    const shown = { ...view, ...page };
    setView(shown);
    for (const [member, value] of Object.entries({ ...within, ...(ranked && shown) })) if (value) kept.set(member, String(value));
    if (JSON.stringify(settings) !== JSON.stringify([usual])) kept.set("settings", JSON.stringify(settings));
    remember(`#/search?${kept}`, [name, text, within.where].filter((t) => t).join(" · "));
    setRunning(true);
    const all: Outcome[] = [];
    const whole = collection ? { ...within, table: "" } : within;
    for (const chosen of settings) { // one after the other, so that neither disturbs the time of the other
      const setting = collection ? { ...chosen, algorithm: usual.algorithm, processor: usual.processor } : chosen;
      const body = bodyOf(text, mode, ranked, k, setting, whole, shown);
      const path = indexPath(name, "inspect");
      try {
        all.push({ setting, path, body, answer: await call<Answer>(path, body) });
      } catch (e) {
        all.push(e instanceof Problem && e.code === "unsupported" ? await fromCluster(setting, e, text, within, shown) : { setting, path, body, error: e as Problem });
      }
    }
    if (mine === turn.current) {
      setOutcomes(all);
      setRunning(false);
    }
  }

  // An index whose shards lie in a cluster has an answer with an explanation in words alone.
  async function fromCluster(setting: Setting, refused: Problem, query: string, restriction: Restriction, view: View): Promise<Outcome> {
    const path = indexPath(name, ranked ? "search" : "match");
    const { facets, ...filter } = restrictionOf({ ...restriction, table: "" }) as { facets?: object };
    const body = { query, mode, explain: true, ...filter, ...(ranked ? { k, ...viewOf(view, mode), ...(facets ? { facets } : {}) } : { limit: k }) };
    try {
      const r = await call<{ count?: number; hits?: Hit[]; documents?: Hit[]; total?: Answer["total"]; after?: string; facets?: Answer["facets"]; explanation?: string; took_ms: number; queued_ms: number }>(path, body);
      const hits = (r.hits ?? r.documents ?? []).map((h) => ({ ...h, text: [] }));
      return { setting, path, body, text: r.explanation ?? refused.message, answer: { count: r.count ?? hits.length, total: r.total, after: r.after, hits, facets: r.facets, lists: [], unknown: [], way: { took_ms: r.took_ms, queued_ms: r.queued_ms } as Answer["way"] } };
    } catch (e) {
      return { setting, path, body, error: e as Problem };
    }
  }

  const began = useRef(false);
  useEffect(() => {
    if (name && !began.current && (parameters.get("query") || parameters.get("sort"))) {
      began.current = true;
      run(query, restriction, { before: view.before, after: view.after });
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

  // whyPath is the page of the score of a document, wayPath the page of the way of a setting.
  const whyPath = (id: number) => `#/score?${new URLSearchParams({ index: name, id: String(id), body: JSON.stringify(explained(first!.body)), from: location.hash })}`;
  const wayPath = (o: Outcome) => `#/way?${new URLSearchParams({ index: name, body: JSON.stringify(o.body), from: location.hash })}`;

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
        {ranked && (
          <div class="line">
            <label class="field"><span>Sort</span>
              <input class="code" id="sort" value={view.sort} spellcheck={false} autocomplete="off" autocapitalize="none" placeholder="year desc, score" onInput={(e) => setView({ ...view, sort: e.currentTarget.value })} />
            </label>
            <Choice label="Total" value={view.total} options={[["", "not counted"], ["1000", "up to 1,000"], ["exact", "exact"]]} onChange={(total) => setView({ ...view, total })} />
            <label class="field"><span>Fields</span>
              <input class="code" id="fields" value={view.fields} spellcheck={false} autocomplete="off" autocapitalize="none" placeholder="title, meta.year" onInput={(e) => setView({ ...view, fields: e.currentTarget.value })} />
            </label>
            <label class="field"><span>Columns</span>
              <input class="code" id="columns" value={view.columns} spellcheck={false} autocomplete="off" autocapitalize="none" placeholder="year, lang or *" onInput={(e) => setView({ ...view, columns: e.currentTarget.value })} />
            </label>
          </div>)}
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
      {!first && !running && name && !query && <Examples key={name} of={indexes.value!.indexes.find((x) => x.name === name)!} onChoose={(q) => { setQuery(q); run(q); }} />}
      {outcomes.length === 2 && first.answer && outcomes[1].answer && <Comparison a={first.answer} b={outcomes[1].answer} />}
      {first && (
        <div class="columns">
          <div class="column">
            {first.error ? <Panel title="Hits"><Failure error={first.error} text={faulty(first.error)} /></Panel> : (
              <Hits of={first.answer!} ranked={ranked} before={ranked ? view.before : 0} why={first.text ? undefined : (id) => whyPath(id)}>
                {ranked && mode !== "and-or" && <Pages of={first.answer!} k={k} before={view.before} onChoose={(page) => run(query, restriction, page)} />}
              </Hits>)}
            {first.answer?.facets && <Facets of={first.answer.facets} onChoose={drill} />}
          </div>
          <div class="column">
            {outcomes.map((o, i) => (
              <Panel key={i} class="way" title={outcomes.length > 1 ? `Way of setting ${"AB"[i]}` : "Way through the engine"} aside={<>{!o.error && !o.text && !collection && <a href={wayPath(o)}>Why this way</a>} <Curl path={o.path} body={o.body} /></>}>
                {o.error ? <Failure error={o.error} text={faulty(o.error)} /> : o.text ? <pre class="words">{o.text}</pre> : <Explanation of={o.answer!} ranked={ranked} />}
              </Panel>))}
          </div>
        </div>)}
    </>
  );
}

// explained is the part of a request that decides the score of a document.
function explained(body: object): object {
  return Object.fromEntries(Object.entries(body).filter(([member]) => ["query", "mode", "scoring"].includes(member)));
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

// Members shows the stored members and the attributes of a hit.
function Members({ of }: { of: Hit }) {
  const all = [...Object.entries(of.fields ?? {}), ...Object.entries(of.attributes ?? {})];
  if (all.length === 0) return null;
  return <p class="preview">{all.map(([name, value]) => <span class="term" key={name}><small><Text of={name} /></small> {value === null ? "no value" : <Text of={typeof value === "string" ? value : JSON.stringify(value)} />}</span>)}</p>;
}

function Hits({ of, ranked, before, why, children }: { of: Answer; ranked: boolean; before: number; why?: (id: number) => string; children?: ComponentChildren }) {
  const matching = of.total ? <><b>{of.total.exact ? "" : "more than "}{count(of.total.value)}</b> {of.total.value === 1 ? "document" : "documents"}</>
    : <><b>{count(of.count)}</b> {of.count === 1 ? "document" : "documents"}</>;
  return (
    <Panel title={ranked ? "Best documents" : "Matching documents"}
      aside={<span class="total" id="count">{matching} in {time(of.way.took_ms)} <Export name="hits" rows={of.hits.map((h, i) => ({ rank: before + i + 1, doc: h.doc ?? "", id: h.id, ...(ranked && { score: h.score }), text: h.text.map((t) => t.text).join(""), ...h.attributes, ...h.fields }))} /></span>}>
      {of.hits.length === 0 && <p class="hint">No document.</p>}
      <ol class="hits" start={before + 1}>
        {of.hits.map((h) => (
          <li key={h.id}>
            <div class="hit"><b><Text of={h.doc || `#${h.id}`} /></b><small>#{h.id}</small>{ranked && (why
              ? <a class="score" href={why(h.id)} aria-label={`Why the score ${h.score.toFixed(4)}`}>{h.score.toFixed(4)}</a>
              : <span class="score">{h.score.toFixed(4)}</span>)}</div>
            <Members of={h} />
            {h.text.length > 0 &&
              <p>{h.cut_before && "… "}{h.text.map((t, i) => (t.marked ? <mark key={i}><Text of={t.text} /></mark> : <Text key={i} of={t.text} />))}{h.cut_after && " …"}</p>}
          </li>))}
      </ol>
      {children}
    </Panel>
  );
}

// Pages leads to the pages beside this one: by the cursor of the reply, or by an offset.
function Pages({ of, k, before, onChoose }: { of: Answer; k: number; before: number; onChoose: (page: { before: number; after: string }) => void }) {
  const back = Math.max(0, before - k), next = before + k;
  const more = of.hits.length === k && (!of.total || of.total.value > next) && (!!of.after || next + k <= mostOffset);
  if (before === 0 && !more) return null;
  return (
    <p class="line pages">
      <button type="button" disabled={before === 0 || back + k > mostOffset} onClick={() => onChoose({ before: back, after: "" })}>Previous page</button>
      <button type="button" disabled={!more} onClick={() => onChoose({ before: next, after: of.after ?? "" })}>Next page</button>
      {of.hits.length > 0 && <span class="hint">{count(before + 1)} to {count(before + of.hits.length)}</span>}
    </p>
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
