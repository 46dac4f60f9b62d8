// Aggregates of the selected rows, in groups or as a whole, or columns of these rows.
import { useEffect, useRef, useState } from "preact/hooks";
import { call, Problem, tablePath } from "./api";
import { time } from "./format";
import { Export } from "./history";
import { Curl, Failure, Grid, Panel, Text } from "./parts";

// Values are the values of a column. Missing are the numbers of the rows without one.
export interface Values { name: string; type: string; values: string[]; missing: number[] }
export const isNumber = (c: Values) => ["int", "uint", "float", "decimal"].includes(c.type);
export const valueOf = (c: Values, row: number) => (c.missing.includes(row) ? <i>missing</i> : <Text of={c.values[row]} />);

interface Reply { columns: Values[]; took_ms: number }
interface Outcome { path: string; body: object; value?: Reply; error?: Problem }

const mostRows = 200;

export function Aggregates({ table, where }: { table: string; where: string }) {
  const [form, setForm] = useState({ select: "count(*)", group_by: "", order_by: "" });
  const [outcome, setOutcome] = useState<Outcome>();
  const turn = useRef(0);

  async function run() {
    const mine = ++turn.current;
    const path = tablePath(table, "aggregate");
    const body = { ...Object.fromEntries(Object.entries({ ...form, where }).filter(([, v]) => v.trim())), limit: mostRows };
    const end = (o: Partial<Outcome>) => { if (mine === turn.current) setOutcome({ path, body, ...o }); };
    try {
      end({ value: await call<Reply>(path, body) });
    } catch (e) {
      end({ error: e as Problem });
    }
  }

  useEffect(() => { if (outcome) run(); }, [where]);

  const field = (label: string, key: keyof typeof form, example: string) => (
    <label class="field wide"><span>{label}</span>
      <input class="code" value={form[key]} placeholder={example} spellcheck={false} autocomplete="off" autocapitalize="none" onInput={(e) => setForm({ ...form, [key]: e.currentTarget.value })} />
    </label>);
  return (
    <Panel title="Aggregates" class="aggregates" aside={outcome && <Curl path={outcome.path} body={outcome.body} />}>
      <form class="line" onSubmit={(e) => { e.preventDefault(); run(); }}>
        {field("Values", "select", "count(*), avg(delay)")}
        {field("Group by", "group_by", "delay")}
        {field("Order by", "order_by", "count(*) DESC")}
        <button>Compute</button>
      </form>
      <div aria-live="polite"><Failure error={outcome?.error} /></div>
      {outcome?.value && <Result of={outcome.value} />}
    </Panel>
  );
}

function Result({ of }: { of: Reply }) {
  const rows = of.columns[0]?.values.map((_, i) => of.columns.map((c) => valueOf(c, i))) ?? [];
  return (
    <>
      <Grid label="Values of aggregates" fields={of.columns.map((c) => ({ head: c.name, number: isNumber(c) }))} rows={rows} />
      <p class="hint">{rows.length === 1 ? "1 row" : `${rows.length} rows${rows.length === mostRows ? ", perhaps not all" : ""}`} in {time(of.took_ms)}. <Export name="aggregates" rows={(of.columns[0]?.values ?? []).map((_, i) => Object.fromEntries(of.columns.map((c) => [c.name, c.missing.includes(i) ? null : c.values[i]])))} /></p>
    </>
  );
}
