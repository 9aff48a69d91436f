import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { route, setQuery } from '../../util/router.js';
import { Empty, Loading, Problem } from '../../ui/basics.js';
import { Heading } from '../../ui/heading.js';
import { isBuilding } from '../../data/deployment/follow.js';
import { DeployDialog } from './deploy/dialog.js';
import { Progress } from './deploy/progress.js';
import { NameRow } from './name-row.js';
import { byName } from './version/versions.js';
import { numbers, roomy, Table } from '../../ui/table.js';

const step = 200;
const limit = signal(step);
const pollMs = { building: 2_000, settled: 15_000 };

/** All names and what they serve. `?source=`: the form of a version; `?deploying=`: a made one. */
export function DeploymentsPage() {
  const { data, error, reload } = useListed();
  const names = data && byName(data.deployments);
  const source = route.value.query.get('source');
  const deploying = route.value.query.get('deploying');
  const show = (version: string | null) => {
    // A reload shows the version that was made, and makes no other.
    setQuery({ source: null, candidate: null, deploying: version });
    void reload();
  };
  return (
    <>
      <div class="page-head">
        <Heading title="Deployments" />
      </div>
      <Problem error={error} />
      {!names && !error && <Loading />}
      {names?.length === 0 && (
        <Empty>
          <p>Nothing is deployed. Open a finished run and deploy its best prompt.</p>
        </Empty>
      )}
      {names && names.length > 0 && (
        <Table
          label="Deployments"
          heads={[
            'Name',
            'Status',
            roomy(numbers('Versions')),
            numbers('Reward'),
            numbers('Requests'),
            numbers('Errors'),
            roomy(numbers('p50')),
            roomy(numbers('p95')),
            roomy(numbers('Cost')),
            roomy('Changed'),
          ]}
        >
          {names.map((group) => (
            <NameRow key={group.name} group={group} />
          ))}
        </Table>
      )}
      {data && data.deployments.length === limit.value && (
        <button type="button" class="button" onClick={() => (limit.value = Math.min(1_000, limit.value + step))}>
          Show more
        </button>
      )}
      {deploying !== null && <Progress id={deploying} onClose={() => show(null)} />}
      {deploying === null && source !== null && (
        <DeployDialog
          source={source}
          candidateId={route.value.query.get('candidate')}
          onMade={show}
          onClose={() => show(null)}
        />
      )}
    </>
  );
}

function useListed() {
  const [isActive, setActive] = useState(false);
  const load = async (aborted: AbortSignal) => {
    const page = await client.value.request('listDeployments', { query: { limit: limit.value }, signal: aborted });
    setActive(page.deployments.some(isBuilding));
    return page;
  };
  return useResource(`deployments ${limit.value}`, load, isActive ? pollMs.building : pollMs.settled);
}
