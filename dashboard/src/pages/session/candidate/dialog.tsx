import { CandidateDialog } from '../../search/candidate/dialog.js';
import { client } from '../../../data/client.js';
import type { Session } from '../../../data/session/types.js';
import { CandidatePrompt } from './prompt.js';

/** A candidate of a session, with its text. */
export function SessionCandidate({ session, candidateId }: { session: Session; candidateId: string }) {
  return (
    <CandidateDialog
      candidateId={candidateId}
      status={session.status}
      load={(signal) => client.value.sessions.handle(session.session_id).candidate(candidateId, { signal })}
    >
      {(candidate) => <CandidatePrompt session={session} candidate={candidate} />}
    </CandidateDialog>
  );
}
