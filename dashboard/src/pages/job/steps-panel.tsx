import type { Answer } from '../../../../src/client/index.js';
import { Badge, Panel } from '../../ui/basics.js';
import { dollars, shortId, words } from '../../util/format.js';
import { pageOf } from '../../util/router.js';

type Steps = Pick<Answer<'getMigration'> | Answer<'getCheckup'>, 'steps' | 'deployment_id' | 'not_deployed'>;

/** The jobs of a job, and the deployment that it has made. */
export function StepsPanel({ job }: { job: Steps }) {
  const { steps, deployment_id: deployed, not_deployed: reason } = job;
  return (
    <Panel title="Steps">
      <ul class="log" aria-label="Steps">
        {steps.map(({ step, job_id: id, status, total_cost_usd: cost }) => (
          <li key={step}>
            <a href={pageOf(id)}>{words(step)}</a> <Badge status={status} /> <span class="quiet">{dollars(cost)}</span>
          </li>
        ))}
        {deployed !== null && (
          <li>
            <a href={pageOf(deployed)}>deployment {shortId(deployed)}</a>
          </li>
        )}
      </ul>
      {reason !== null && <p class="note">{reason}</p>}
    </Panel>
  );
}
