import { count, reward, words } from '../../../util/format.js';
import { here } from '../../../util/router.js';
import { CopyId } from '../../../ui/copy.js';
import { UnseenRows } from '../../../ui/interval-bar.js';
import { Badge, Stat, Stats, Tag } from '../../../ui/basics.js';
import { numberOf, type CandidateDetail } from '../../../data/search.js';

/** What became of a candidate, where it comes from, and its figures. */
export function CandidateSummary({ candidate }: { candidate: CandidateDetail }) {
  const { decision, status } = candidate;
  const outcome = status === 'proposed' ? decision.outcome : status;
  return (
    <>
      <p class="job-facts">
        <Badge status={outcome} />
        {candidate.is_baseline && <Tag>baseline</Tag>}
        {'is_given' in candidate && candidate.is_given && <Tag>written by a person</Tag>}
        {candidate.reflection?.approach && <Tag>{words(candidate.reflection.approach)}</Tag>}
        <CopyId id={candidate.candidate_id} />
        <span class="quiet">generation {candidate.generation}</span>
        {candidate.parent_ids.length > 0 && (
          <span class="quiet">
            from{' '}
            {candidate.parent_ids.map((parent) => (
              <a key={parent} href={here({ candidate: parent })}>
                {numberOf(parent)}{' '}
              </a>
            ))}
          </span>
        )}
      </p>
      <p class="verdict">{decision.message}</p>
      <Stats>
        <Stat name="Reward" hint="Mean over the evaluation rows">
          {reward(candidate.reward)}
          <UnseenRows interval={candidate.reward_interval} />
        </Stat>
        <Stat name="Estimated at acceptance">{reward(decision.estimated_reward)}</Stat>
        <Stat name="All answers" hint="Mean over all its answers, tests included">
          {reward(candidate.avg_reward)}
        </Stat>
        <Stat name="Answers">{count(candidate.rollout_count)}</Stat>
      </Stats>
    </>
  );
}
