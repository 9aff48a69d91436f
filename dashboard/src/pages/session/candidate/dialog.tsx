import { useResource } from '../../../data/resource.js';
import { setQuery } from '../../../router.js';
import { Loading, Problem } from '../../../ui/basics.js';
import { Dialog } from '../../../ui/dialog.js';
import { loadCandidate } from '../data.js';
import { Minibatch } from '../../search/candidate/minibatch.js';
import { ReflectionView } from '../../search/candidate/reflection.js';
import { Sentences } from '../../search/candidate/sentences.js';
import { CandidateSummary } from '../../search/candidate/summary.js';
import { isActive, numberOf } from '../../search/types.js';
import type { Session } from '../types.js';
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
          <CandidateSummary candidate={candidate} />
          <CandidatePrompt session={session} candidate={candidate} />
          <Minibatch candidate={candidate} />
          <Sentences candidate={candidate} />
          <ReflectionView candidate={candidate} />
        </>
      )}
    </Dialog>
  );
}
