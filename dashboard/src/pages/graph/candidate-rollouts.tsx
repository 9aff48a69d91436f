import { useResource } from '../../data/resource.js';
import { count, reward } from '../../util/format.js';
import { stageWords } from '../../util/search-words.js';
import { here } from '../../util/router.js';
import { Badge, Problem } from '../../ui/basics.js';
import { VirtualList } from '../../ui/virtual-list.js';
import { all } from '../../../../src/client/index.js';
import { client } from '../../data/client.js';
import type { CandidateDetail, GraphJob, Rollout } from '../../data/graph/types.js';

const rowHeight = 30;
const mostRows = 10;

/** The runs of a candidate's graph, each with the trace of its steps. */
export function Rollouts({ job, candidate }: { job: GraphJob; candidate: CandidateDetail }) {
  const { candidate_id: id, rollout_count: known } = candidate;
  const args = { path: { job_id: job.job_id, candidate_id: id }, query: { limit: 200 } };
  const { data: rollouts, error } = useResource(`rollouts ${id} ${known}`, (signal) =>
    all(client.value.list('listGraphJobSeedEvals', { ...args, signal })),
  );
  if (rollouts?.length === 0) return null;
  return (
    <section class="part" aria-label="Answers">
      <header class="panel-head">
        <h3>Answers</h3>
        <span class="quiet">{rollouts && count(rollouts.length)}</span>
      </header>
      <Problem error={error} />
      {rollouts && (
        <VirtualList
          count={rollouts.length}
          rowHeight={rowHeight}
          label="Answers"
          height={`${Math.min(mostRows, rollouts.length) * rowHeight}px`}
          row={(index) => <RolloutRow rollout={rollouts[index]!} />}
        />
      )}
    </section>
  );
}

function RolloutRow({ rollout }: { rollout: Rollout }) {
  return (
    <div class="graph-rollout">
      <a href={here({ trace: rollout.rollout_id })}>{rollout.task_id}</a>
      <span class="graph-reward">{reward(rollout.reward)}</span>
      <span class="quiet">{stageWords(rollout.stage)}</span>
      <span>{rollout.status !== 'succeeded' && <Badge status={rollout.status} />}</span>
      <span class="graph-feedback quiet" title={rollout.error ?? rollout.feedback ?? ''}>
        {rollout.error ?? rollout.feedback}
      </span>
    </div>
  );
}
