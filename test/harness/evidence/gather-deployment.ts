import { readDeployment } from '../../support/deployments-over-http.js';
import { deployments } from '../../support/jobs-over-http.js';
import { gateJobIds } from '../jobs/deployments.js';
import type { DeploymentEvidence, GateEvaluation } from './evidence.js';
import type { Job } from '../jobs/jobs.js';
import type { World } from '../worlds/world.js';

/** The service's and the database's view of a built deployment. */
export async function gatherDeployment(world: World, { id, container }: Job): Promise<DeploymentEvidence> {
  const { status, live, snapshot_id: snapshotId } = await readDeployment(world, id);
  const [row] = await world.sql<Pick<DeploymentEvidence, 'liveAt' | 'prompt' | 'gate'>>(
    `select extract(epoch from live_at)::float8 * 1000 as "liveAt", content->'messages'->0->>'content' as prompt, gate
       from deployments d left join snapshots s on s.org_id = d.org_id and s.id = d.snapshot_id where d.id = $1`,
    [id],
  );
  const rows = await world.sql<{ id: string; runs: string }>(
    `select id, coalesce(spec->>'candidate', 'the container as it is') as runs from jobs where id like $1 order by id`,
    [gateJobIds(id)],
  );
  const evaluations = rows.map((each) => ({ ...each, repeats: repeatsOf(each.id) }));
  const sent = (container?.lines() ?? []).flatMap((line) => (line.event === 'in' ? line.rolloutId : []));
  const counted = await world.api.call<DeploymentEvidence['counted']>('GET', `${deployments}/${id}/stats`);
  return { status, live, snapshotId, ...row!, evaluations, sent: [...new Set(sent)], counted };
}

/** What the number at the end of an id says: 0000 the candidate, 1002 its repeat beside 0002. */
function repeatsOf(id: string): GateEvaluation['repeats'] {
  const [side, number] = [id.at(-4), id.slice(-3)];
  if (side === '0') return null;
  const first = (ending: string) => `${id.slice(0, -4)}0${ending}`;
  return { side: side === '1' ? 'candidate' : 'incumbent', candidate: first('000'), incumbent: first(number) };
}
