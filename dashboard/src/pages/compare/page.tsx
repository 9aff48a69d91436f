import { useMemo } from 'preact/hooks';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { route } from '../../util/router.js';
import { Empty, Loading, Problem } from '../../ui/basics.js';
import { CopyLink } from '../../ui/copy.js';
import { Heading } from '../../ui/heading.js';
import { TraceFromAddress } from '../../ui/trace/from-address.js';
import { Chooser } from './chooser.js';
import { Pairs } from './pairs.js';
import { Prompts } from './prompts.js';
import { pairsOf } from './rows.js';
import { loadRows } from './sides.js';
import { VerdictPanel } from './verdict-panel.js';

/** Two runs, candidates or deployments on their common rows. */
export function ComparePage() {
  const { query } = route.value;
  const [a, b] = [query.get('a') || null, query.get('b') || null];
  return (
    <>
      <div class="page-head">
        <Heading title="Compare" />
        <CopyLink />
      </div>
      <Chooser a={a} b={b} />
      {a !== null && b !== null ? <Compared key={`${a} ${b}`} a={a} b={b} /> : <Empty>Choose two runs.</Empty>}
      <TraceFromAddress />
    </>
  );
}

function Compared({ a, b }: { a: string; b: string }) {
  const { data, error } = useResource(`${a} ${b}`, async (signal) => {
    const comparison = await client.value.compare(a, b, { signal });
    const [ofA, ofB] = await Promise.all([loadRows(comparison.a, signal), loadRows(comparison.b, signal)]);
    return { comparison, ofA, ofB };
  });
  const pairs = useMemo(() => data && pairsOf(data.ofA, data.ofB, data.comparison.compared_seeds), [data]);
  if (!data || !pairs) return error ? <Problem error={error} /> : <Loading />;
  return (
    <>
      <VerdictPanel comparison={data.comparison} />
      <Pairs comparison={data.comparison} pairs={pairs} a={data.ofA} b={data.ofB} />
      <Prompts comparison={data.comparison} pair={pairs[0]} />
    </>
  );
}
