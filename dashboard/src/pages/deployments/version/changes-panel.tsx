import { client } from '../../../data/client.js';
import { useResource } from '../../../data/resource.js';
import { Panel, Problem, Time } from '../../../ui/basics.js';
import { changeWords } from './versions.js';
import type { Deployment } from '../../../data/deployment/types.js';

const shown = 20;

/** The latest changes of what a name and its labels serve. */
export function ChangesPanel({ deployment: { name, id, status, live, labels } }: { deployment: Deployment }) {
  const key = `changes ${name} ${id} ${status} ${live} ${labels.join()}`;
  const { data, error } = useResource(key, (signal) =>
    client.value.request('listDeploymentChanges', {
      path: { deployment_id: id },
      query: { limit: shown },
      signal,
    }),
  );
  if (!error && (data === undefined || data.data.length === 0)) return null;
  return (
    <Panel title="Changes">
      <Problem error={error} />
      <ul class="log" aria-label="Changes">
        {data?.data.map((change) => (
          <li key={change.id}>
            <Time at={change.at} /> {changeWords(change)}
            {change.reason !== null && <span class="quiet"> {change.reason}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
