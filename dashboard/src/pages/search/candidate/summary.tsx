import { counted } from '../../../../../src/core/math/words.js';
import { reward } from '../../../util/format.js';
import { approachWords } from '../../../util/search-words.js';
import { here } from '../../../util/router.js';
import { CopyId } from '../../../ui/copy.js';
import { UnseenRows } from '../../../ui/charts/interval-bar.js';
import { Badge, Stat, Stats, Tag } from '../../../ui/basics.js';
import { estimateName, heldoutOf } from '../../../data/first-reward.js';
import { numberOf, type CandidateDetail, type Results, type SearchJob } from '../../../data/search.js';

/** What became of a candidate, where it comes from, and its figures. */
export function CandidateSummary(props: { candidate: CandidateDetail; job: SearchJob; results: Results | undefined }) {
  const { candidate, job, results } = props;
  const heldout = heldoutOf(results, candidate.candidate_id);
  const { decision, status } = candidate;
  const outcome = status === 'proposed' ? decision.outcome : status;
  return (
    <>
      <p class="job-facts">
        <Badge status={outcome} />
        {candidate.is_baseline && <Tag>baseline</Tag>}
        {'is_given' in candidate && candidate.is_given && <Tag>written by a person</Tag>}
        {candidate.reflection?.approach && <Tag>{approachWords[candidate.reflection.approach]}</Tag>}
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
        {heldout && (
          <Stat name={heldout.name}>
            {reward(heldout.reward)}
            <UnseenRows interval={heldout.interval} />
          </Stat>
        )}
        <Stat name={estimateName(job)}>
          {reward(candidate.reward)}
          <UnseenRows interval={candidate.reward_interval} />
        </Stat>
        <Stat name={`Mean of ${counted(candidate.rollout_count, 'answer')}`} hint="Of all parts, train rows included">
          {reward(candidate.avg_reward)}
        </Stat>
      </Stats>
    </>
  );
}
