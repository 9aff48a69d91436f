import { useState } from 'preact/hooks';
import { client } from '../../../data/client.js';
import { rewardOf } from '../../../data/deployment/reward.js';
import { useResource } from '../../../data/resource.js';
import { milliseconds, count, reward, shortId } from '../../../util/format.js';
import { pageOf } from '../../../util/router.js';
import { Badge, Panel, Problem, Time } from '../../../ui/basics.js';
import { useSeen } from '../../../ui/hooks/in-view.js';
import { NotRead } from './not-read.js';
import type { Deployment, Listed } from '../../../data/deployment/types.js';
import { numbers, roomy, Table } from '../../../ui/table.js';

const step = 50;

/** The versions of a name, newest first. */
export function VersionsPanel({ shown }: { shown: Deployment }) {
  const [limit, setLimit] = useState(step);
  // The list is read again when the shown version changes.
  const key = `${shown.name} ${limit} ${shown.id} ${shown.status} ${shown.live}`;
  const { data, error } = useResource(key, (signal) =>
    client.value.request('listDeployments', { query: { name: shown.name, limit }, signal }),
  );
  return (
    <Panel title="Versions">
      <Problem error={error} />
      <Table
        label="Table of versions"
        heads={[
          'Version',
          'Status',
          numbers('Reward'),
          'Gate',
          roomy(numbers('Requests')),
          roomy(numbers('p95')),
          roomy('Created'),
        ]}
      >
        {data?.deployments.map((version) => (
          <VersionRow key={version.id} version={version} isShown={version.id === shown.id} />
        ))}
      </Table>
      {data?.deployments.length === limit && (
        <button type="button" class="button" onClick={() => setLimit(Math.min(1_000, limit + step))}>
          Show more
        </button>
      )}
    </Panel>
  );
}

function VersionRow({
  version: { id, version, labels, status, live, created_at: created },
  isShown,
}: {
  version: Listed;
  isShown: boolean;
}) {
  const [row, isSeen] = useSeen<HTMLTableRowElement>();
  const { data, error } = useResource(`${id} ${isSeen} ${status}`, async (signal) => {
    if (!isSeen) return undefined;
    const handle = client.value.deployments.handle(id);
    const [deployment, stats] = await Promise.all([handle.get({ signal }), handle.stats({ signal })]);
    return { gate: deployment.gate, first: rewardOf(deployment), stats };
  });
  return (
    <tr ref={row} aria-current={isShown ? 'true' : undefined}>
      <td class="version-id">
        <a class="row-link" href={pageOf(id)}>
          {version}
        </a>{' '}
        <span class="quiet mono on-roomy">{shortId(id)}</span>
        {isShown && <span class="quiet"> shown</span>}
      </td>
      <td class="short">
        <Badge status={live ? 'live' : status} />
        {labels
          .filter((label) => label !== 'production')
          .map((label) => (
            <Badge key={label} status="ready" text={label} />
          ))}
        <NotRead error={error} />
      </td>
      <td class="number" title={data?.first?.name}>
        {reward(data?.first?.reward)}
      </td>
      <td>{data && gateText(data.gate)}</td>
      <td class="number on-roomy">{count(data?.stats.requests)}</td>
      <td class="number on-roomy">{milliseconds(data?.stats.latency_ms.p95)}</td>
      <td class="short on-roomy">
        <Time at={created} />
      </td>
    </tr>
  );
}

function gateText(gate: Deployment['gate']): string {
  if (gate === null) return 'none';
  return gate.passed === null ? 'running' : gate.passed ? 'passed' : 'not passed';
}
