import type { Answer } from '../../../../../src/client/index.js';
import { sumOf } from '../../../../../src/util/sums.js';
import { client } from '../../../data/client.js';
import { useResource } from '../../../data/resource.js';
import { count, dollars, milliseconds, reward } from '../../../util/format.js';
import { Empty, Panel, Problem, Stat, Stats, Time } from '../../../ui/basics.js';
import { Choice } from '../../../ui/choice.js';
import { Fold } from '../../../ui/fold.js';
import { route, setQuery } from '../../../util/router.js';
import { TrafficChart } from './traffic-chart.js';
import { numbers, Table } from '../../../ui/table.js';

const pollMs = 30_000;
const hourMs = 3_600_000;

/** How far back, and the length of a bar. */
const spans = {
  hour: { name: '1 h', ms: hourMs, per: 'minute', stepMs: hourMs / 60 },
  day: { name: '24 h', ms: 24 * hourMs, per: 'hour', stepMs: hourMs },
  week: { name: '7 d', ms: 7 * 24 * hourMs, per: 'hour', stepMs: hourMs },
} as const;
type Span = keyof typeof spans;
const spanNames = Object.fromEntries(Object.entries(spans).map(([span, { name }]) => [span, name]));

/** Requests over time, with the changes of what is served as marks, and the latest failures. */
export function TrafficPanel({ id, name, isCallable }: { id: string; name: string; isCallable: boolean }) {
  const asked = route.value.query.get('span');
  const span: Span = asked !== null && asked in spans ? (asked as Span) : 'day';
  const { data, error } = useResource(
    `traffic ${id} ${span}`,
    (signal) => load(id, name, span, signal),
    isCallable ? pollMs : null,
  );
  if (!error && span === 'day' && (data === undefined || data.periods.length + data.failures.length === 0)) return null;
  return (
    <Panel
      title="Traffic"
      aside={
        <Choice
          label="Time span"
          value={span}
          options={spanNames as Record<Span, string>}
          onChange={(next) => setQuery({ span: next === 'day' ? null : next })}
        />
      }
    >
      <Problem error={error} />
      {data && data.periods.length === 0 && <Empty>No requests in the last {spans[span].name}.</Empty>}
      {data && data.periods.length > 0 && (
        <>
          <TrafficChart
            label={`Requests and errors of the last ${spans[span].name}`}
            {...data}
            stepMs={spans[span].stepMs}
          />
          <Sums periods={data.periods} />
          <Fold summary={spans[span].per === 'hour' ? 'By hour' : 'By minute'} isOpen={span === 'day'}>
            {() => <Periods periods={data.periods.toReversed()} name={spans[span].name} />}
          </Fold>
        </>
      )}
      {data && <Models hours={data.periods} />}
      {data && data.failures.length > 0 && <Failures failures={data.failures} />}
    </Panel>
  );
}

async function load(id: string, name: string, span: Span, signal: AbortSignal) {
  const { ms, per, stepMs } = spans[span];
  const handle = client.value.deployments.handle(id);
  const to = Date.now();
  const from = Math.floor((to - ms) / stepMs + 1) * stepMs;
  const [history, failures, changes] = await Promise.all([
    handle.history({ per, from: new Date(from).toISOString() }, { signal }),
    handle.failures({ signal }),
    client.value.request('listDeploymentChanges', { path: { deployment_id: name }, query: { limit: 100 }, signal }),
  ]);
  return { periods: history.data, failures: failures.data, changes: changes.data, from, to };
}

/** What the span has in all. The slowest period stands for its latencies. */
function Sums({ periods }: { periods: HistoryHours }) {
  const requests = sumOf(periods, (period) => period.requests)!;
  const errors = sumOf(periods, (period) => period.errors)!;
  const cost = sumOf(periods, ({ usage }) => usage.total_cost_usd);
  const most = (latency: 'p50' | 'p95') =>
    Math.max(...periods.map((period) => period.latency_ms[latency] ?? 0)) || null;
  return (
    <Stats>
      <Stat name="Requests">{count(requests)}</Stat>
      <Stat name="Errors">
        <span class={errors > 0 ? 'bad' : ''}>
          {count(errors)} ({((100 * errors) / Math.max(1, requests)).toFixed(1)} %)
        </span>
      </Stat>
      <Stat name="p50, at worst">{milliseconds(most('p50'))}</Stat>
      <Stat name="p95, at worst">{milliseconds(most('p95'))}</Stat>
      <Stat name="Cost">{dollars(cost)}</Stat>
    </Stats>
  );
}

type HistoryHours = Answer<'getDeploymentHistory'>['data'];

/** Tries by model, where a request had several. */
function Models({ hours }: { hours: HistoryHours }) {
  const sums = new Map<string, { tries: number; failed: number }>();
  for (const [model, { tries, failed }] of hours.flatMap(({ models }) => Object.entries(models))) {
    const known = sums.get(model) ?? { tries: 0, failed: 0 };
    sums.set(model, { tries: known.tries + tries, failed: known.failed + failed });
  }
  if (sums.size < 2) return null;
  const words = [...sums].map(([model, { tries, failed }]) => `${model} ${count(tries)} (${count(failed)} failed)`);
  return <p class="quiet">Tries of models: {words.join(', ')}</p>;
}

function Periods({ periods, name }: { periods: HistoryHours; name: string }) {
  return (
    <Table
      label={`The last ${name}`}
      heads={[
        'Begins',
        numbers('Requests'),
        numbers('Errors'),
        numbers('p50'),
        numbers('p95'),
        numbers('Cost'),
        numbers('Reward'),
      ]}
    >
      {periods.map(({ start, requests, errors, latency_ms: latency, usage, metrics }) => (
        <tr key={start}>
          <td>
            <Time at={start} />
          </td>
          <td class="number">{count(requests)}</td>
          <td class="number">
            <span class={errors > 0 ? 'bad' : ''}>{count(errors)}</span>
          </td>
          <td class="number">{milliseconds(latency.p50)}</td>
          <td class="number">{milliseconds(latency.p95)}</td>
          <td class="number">{dollars(usage.total_cost_usd)}</td>
          <td class="number">{reward(metrics['reward']?.mean)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Failures({ failures }: { failures: Answer<'listDeploymentFailures'>['data'] }) {
  return (
    <Table label="Table of failed requests" heads={['Failed', numbers('Status'), 'Code', 'Message']}>
      {failures.map(({ answer_id: answerId, at, status, code, message }) => (
        <tr key={answerId}>
          <td class="short">
            <Time at={at} />
          </td>
          <td class="number">{status}</td>
          <td class="mono">{code}</td>
          <td>{message}</td>
        </tr>
      ))}
    </Table>
  );
}
