// Example queries for a first visit, from the terms of the index.
import { useEffect, useState } from "preact/hooks";
import { call, indexPath } from "./api";
import { Panel, Text } from "./parts";
import type { Index, PostingList } from "./types";

// draw returns frequent words of an index, of its longest field if it has some: one for each of some letters, and of
// alphabets behind the Latin one the most frequent words.
async function draw(of: Index): Promise<string[]> {
  const field = [...of.fields ?? []].sort((a, b) => Number(b.length) - Number(a.length))[0]?.name;
  const place = field === undefined ? "" : `${field}:`;
  const words = async (asked: { prefix: string; after?: string }, letters: RegExp, most: number) => {
    const { terms } = await call<{ terms: PostingList[] }>(indexPath(of.name, "terms"), { ...asked, limit: 1000 });
    return terms.map((t) => ({ ...t, word: t.term.slice(place.length) })).filter((t) => letters.test(t.word) && t.documents <= Math.max(1, of.docs / 10))
      .sort((a, b) => b.documents - a.documents).slice(0, most).map((t) => t.word);
  };
  const all = await Promise.all([...["f", "l", "s", "w", "m"].map((letter) => words({ prefix: place + letter }, /^\p{L}{4,}$/u, 1)), words({ prefix: place, after: `${place}zz` }, /^\p{L}{2,}$/u, 3)]);
  return all.flat();
}

export function Examples({ of, onChoose }: { of: Index; onChoose: (query: string) => void }) {
  const [words, setWords] = useState<string[]>([]);
  useEffect(() => { draw(of).then(setWords, () => setWords([])); }, [of.name]); // an index in a cluster has no list of terms here
  const [a, b, c] = words;
  if (!c) return null;
  return (
    <Panel title="Examples" class="examples">
      <p class="hint">Queries with words of this index.</p>
      <ul>
        {[[`${a} ${b}`, "documents with any word"], [`+${a} -${b}`, "with one word and without another one"], [`${a} AND (${b} OR ${c})`, "operators"], [`${c.slice(0, 3)}*`, "all words that begin so"], [`${a}^2 ${c}`, "a word with twice the weight"]]
          .map(([query, does]) => <li key={query}><button type="button" class="link" onClick={() => onChoose(query)}><code><Text of={query} /></code></button> <small>{does}</small></li>)}
      </ul>
    </Panel>
  );
}
