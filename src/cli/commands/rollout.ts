import type { Answer, Body } from '../../client/index.js';
import { withService } from '../service/connect.js';
import { decimal, say, sayJson } from '../service/output.js';

type Rollout = Answer<'getRollout'>;
type Action = Body<'decideRollout'>['action'];

/** Shows the rollout of a name, or decides it. */
export async function rollout(
  ref: string,
  action: Action | undefined,
  { reason = null, json = false }: { reason?: string | null; json?: boolean },
): Promise<void> {
  await withService(async (client) => {
    const handle = client.deployments.handle(ref);
    const found = action === undefined ? await handle.rollout() : await handle.decideRollout({ action, reason });
    if (json) sayJson(found);
    else print(found);
  });
}

function print({ deployment_id: id, name, status, step, steps, percent, reason, evidence, ...more }: Rollout): void {
  const { requests, guards, metric } = evidence;
  const asked = more.is_shadow ? ' are asked of it, too' : '';
  say(
    `${name}: ${id} is ${status.replaceAll('_', ' ')}, step ${step} of ${steps}: ${percent} % of the requests${asked}`,
  );
  if (reason !== null) say(reason);
  if (more.waits !== null) say(`The step goes on: ${more.waits.replaceAll('_', ' ')}.`);
  say(`Requests in the step: ${requests.canary}, of the live version ${requests.live}`);
  for (const { guard, live, canary, bound, is_beyond: isBeyond } of guards)
    say(`${guard}: ${decimal(canary)}, live ${decimal(live)}, bound ${decimal(bound)}${isBeyond ? ', beyond it' : ''}`);
  const { live, canary, pairs, verdict } = metric;
  say(
    `${more.metric}: ${decimal(canary.mean)} of ${canary.count}, live ${decimal(live.mean)} of ${live.count}; ${pairs} pairs${verdict === null ? '' : `, ${verdict}`}`,
  );
}
