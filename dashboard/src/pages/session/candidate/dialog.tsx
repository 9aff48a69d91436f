import { useResource } from '../../../data/resource.js';
import { count, reward, words } from '../../../format.js';
import { here, setQuery } from '../../../router.js';
import { Badge, Loading, Problem, Stat, Stats, Tag } from '../../../ui/basics.js';
import { Dialog } from '../../../ui/dialog.js';
import { loadCandidate } from '../data.js';
import { Minibatch } from '../../search/candidate/minibatch.js';
import { ReflectionView } from '../../search/candidate/reflection.js';
import { Sentences } from '../../search/candidate/sentences.js';
import { isActive, numberOf } from '../../search/types.js';
import type { CandidateDetail, Session } from '../types.js';
import { CandidatePrompt } from './prompt.js';

const pollMs = 3_000;

/** A candidate: its text, why it was accepted or rejected, and where it comes from. */
export function CandidateDialog({ session, candidateId }: { session: Session; candidateId: string }) {
  const { data: candidate, error } = useResource(
    `candidate ${candidateId}`,
    (signal) => loadCandidate(session.session_id, candidateId, signal),
    isActive(session.status) ? pollMs : null,
  );
  return (
    <Dialog title={`Candidate ${numberOf(candidateId)}`} onClose={() => setQuery({ candidate: null })} wide>
      <Problem error={error} />
      {!candidate && !error && <Loading />}
      {candidate && (
        <>
          <Summary candidate={candidate} />
          <CandidatePrompt session={session} candidate={candidate} />
          <Minibatch candidate={candidate} />
          <Sentences candidate={candidate} />
          <ReflectionView candidate={candidate} />
        </>
      )}
    </Dialog>
  );
}

function Summary({ candidate }: { candidate: CandidateDetail }) {
  const { decision, status } = candidate;
  const outcome = status === 'proposed' ? decision.outcome : status;
  return (
    <>
      <p class="session-facts">
        <Badge status={outcome} />
        {candidate.is_baseline && <Tag>baseline</Tag>}
        {candidate.is_given && <Tag>written by a person</Tag>}
        {candidate.reflection?.approach && <Tag>{words(candidate.reflection.approach)}</Tag>}
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
        <Stat name="Reward" hint="Mean over the evaluation seeds">
          {reward(candidate.reward)}
        </Stat>
        <Stat name="Estimated at acceptance">{reward(decision.estimated_reward)}</Stat>
        <Stat name="All rollouts" hint="Mean over all its rollouts, tests included">
          {reward(candidate.avg_reward)}
        </Stat>
        <Stat name="Rollouts">{count(candidate.rollout_count)}</Stat>
      </Stats>
    </>
  );
}
