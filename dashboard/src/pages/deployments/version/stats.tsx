import { client } from '../../../data/client.js';
import { useResource } from '../../../data/resource.js';
import { count, dollars, milliseconds, reward } from '../../../util/format.js';
import { Problem, Stat, Stats } from '../../../ui/basics.js';

const pollMs = 5_000;

/** The requests of a version so far; followed while it can be called. */
export function DeploymentStats({ id, isCallable }: { id: string; isCallable: boolean }) {
  const { data, error } = useResource(
    `stats ${id}`,
    (signal) => client.value.deployments.handle(id).stats({ signal }),
    isCallable ? pollMs : null,
  );
  if (error) return <Problem error={error} />;
  const { requests, errors, aborted, latency_ms: latency, usage, metrics, judge } = data ?? {};
  const rewards = metrics?.['reward'];
  const unpriced = usage?.requests_without_cost ?? 0;
  return (
    <Stats>
      <Stat name="Requests">{count(requests)}</Stat>
      <Stat name="Errors">
        <span class={errors ? 'bad' : ''}>{count(errors)}</span>
      </Stat>
      <Stat name="Aborted" hint="The caller disconnected before the end.">
        {count(aborted)}
      </Stat>
      <Stat name="Latency p50">{milliseconds(latency?.p50)}</Stat>
      <Stat name="Latency p95">{milliseconds(latency?.p95)}</Stat>
      <Stat name="Tokens">{count(usage?.total_tokens)}</Stat>
      <Stat name="Cost" hint={unpriced > 0 ? `${count(unpriced)} requests have no known cost.` : 'All requests.'}>
        {dollars(usage?.total_cost_usd)}
      </Stat>
      {judge?.agreement && (
        <Stat name="Judge agrees with people" hint={`On ${count(judge.agreement.outputs)} reviewed answers.`}>
          {judge.agreement.accuracy === null ? '–' : `${Math.round(judge.agreement.accuracy * 100)} %`}
        </Stat>
      )}
      {rewards && (
        <Stat name="Feedback" hint={`Feedback on ${count(rewards.count)} answers; in brackets its 95 % interval.`}>
          {`${reward(rewards.mean)} (${reward(rewards.interval.low)} to ${reward(rewards.interval.high)})`}
        </Stat>
      )}
    </Stats>
  );
}
