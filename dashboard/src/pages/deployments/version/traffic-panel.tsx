import type { Answer } from '../../../../../src/client/index.js';
import { client } from '../../../data/client.js';
import { useResource } from '../../../data/resource.js';
import { count, dollars, milliseconds, reward } from '../../../util/format.js';
import { Panel, Problem, Time } from '../../../ui/basics.js';

const pollMs = 30_000;

/** Requests of the last 24 hours, and the latest failures. */
export function TrafficPanel({ id, isCallable }: { id: string; isCallable: boolean }) {
  const { data, error } = useResource(
    `traffic ${id}`,
    async (signal) => {
      const handle = client.value.deployments.handle(id);
      const [history, failures] = await Promise.all([handle.history({}, { signal }), handle.failures({ signal })]);
      return { hours: history.data.toReversed(), failures: failures.data };
    },
    isCallable ? pollMs : null,
  );
  if (!error && (data === undefined || data.hours.length + data.failures.length === 0)) return null;
  return (
    <Panel title="Traffic">
      <Problem error={error} />
      {data && data.hours.length > 0 && <Hours hours={data.hours} />}
      {data && <Models hours={data.hours} />}
      {data && data.failures.length > 0 && <Failures failures={data.failures} />}
    </Panel>
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

function Hours({ hours }: { hours: HistoryHours }) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="The last 24 hours">
      <table class="table">
        <thead>
          <tr>
            <th>Hour</th>
            <th class="number">Requests</th>
            <th class="number">Errors</th>
            <th class="number">p50</th>
            <th class="number">p95</th>
            <th class="number">Cost</th>
            <th class="number">Reward</th>
          </tr>
        </thead>
        <tbody>
          {hours.map(({ start, requests, errors, latency_ms: latency, usage, metrics }) => (
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
        </tbody>
      </table>
    </div>
  );
}

function Failures({ failures }: { failures: Answer<'listDeploymentFailures'>['data'] }) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Table of failed requests">
      <table class="table">
        <thead>
          <tr>
            <th>Failed</th>
            <th class="number">Status</th>
            <th>Code</th>
            <th>Message</th>
          </tr>
        </thead>
        <tbody>
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
        </tbody>
      </table>
    </div>
  );
}
