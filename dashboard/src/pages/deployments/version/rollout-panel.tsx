import { client } from '../../../data/client.js';
import type { Deployment } from '../../../data/deployment/types.js';
import { reward } from '../../../util/format.js';
import { Badge, Panel } from '../../../ui/basics.js';
import { ConfirmButton } from '../../../ui/confirm.js';

type Rollout = NonNullable<Deployment['rollout']>;
type Action = 'pause' | 'resume' | 'promote' | 'roll_back';

const statusWords: Record<Rollout['status'], string> = {
  running: 'running',
  paused: 'paused',
  awaiting_approval: 'awaits your approval',
  promoted: 'promoted',
  rolled_back: 'rolled back',
};
const waitWords = { few_requests: 'too few requests for the next step', undecided: 'the metric does not decide yet' };

/** How far a version has come on its way to serve its name, and what a person can decide. */
export function RolloutPanel({ deployment, onChange }: { deployment: Deployment; onChange: () => Promise<void> }) {
  const { id, name, version, rollout } = deployment;
  if (!rollout) return null;
  const { status, step, steps, percent, is_shadow: isShadow, waits, evidence, metric, reason } = rollout;
  const { requests, guards, metric: values } = evidence;
  const decide = (action: Action) => async () => {
    await client.value.deployments.handle(id).decideRollout({ action });
    await onChange();
  };
  const share = isShadow ? `${percent} % of the requests are asked of it, too` : `${percent} % of the requests`;
  const end = status === 'promoted' || status === 'rolled_back';
  return (
    <Panel title="Rollout" aside={<Badge status={badges[status]} text={statusWords[status]} />}>
      <p>
        {reason ?? `Step ${step} of ${steps}: ${share}.`} {!end && waits && `It goes on: ${waitWords[waits]}.`}
      </p>
      <p class="quiet">
        In the step {requests.canary} requests, and {requests.live} of the live version. {metric}:{' '}
        {values.canary.count === 0 ? 'no values' : `${reward(values.canary.mean)} (${values.canary.count})`} against{' '}
        {values.live.count === 0 ? 'no values' : `${reward(values.live.mean)} (${values.live.count})`}
        {values.verdict && `, ${values.verdict}`}.
      </p>
      {guards.map(({ guard, live, canary, bound, is_beyond: isBeyond }) => (
        <p key={guard} class={isBeyond ? 'problem' : 'quiet'}>
          {guard}: {reward(canary)}, live {reward(live)}, bound {reward(bound)}
          {isBeyond && ', beyond it'}
        </p>
      ))}
      {!end && (
        <div class="actions">
          {status === 'running' && <button onClick={() => void decide('pause')()}>Pause</button>}
          {status === 'paused' && <button onClick={() => void decide('resume')()}>Resume</button>}
          <ConfirmButton label="Promote now" title={`Promote version ${version}`} run={decide('promote')}>
            <p>All new requests to {name} get this version.</p>
          </ConfirmButton>
          <ConfirmButton
            label="Roll back now"
            title={`Roll back version ${version}`}
            run={decide('roll_back')}
            kind="danger"
          >
            <p>All new requests to {name} get what it served before. This version ends as failed.</p>
          </ConfirmButton>
        </div>
      )}
    </Panel>
  );
}

const badges: Record<Rollout['status'], string> = {
  running: 'running',
  paused: 'paused',
  awaiting_approval: 'paused',
  promoted: 'succeeded',
  rolled_back: 'failed',
};
