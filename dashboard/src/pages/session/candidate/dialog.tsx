import { CandidateDialog } from '../../search/candidate/dialog.js';
import { client } from '../../../data/client.js';
import type { Results, Session } from '../../../data/session/types.js';
import { CandidatePrompt } from './prompt.js';

/** A candidate of a session, with its text. */
export function SessionCandidate(props: { session: Session; results: Results | undefined; candidateId: string }) {
  const { session, results, candidateId } = props;
  return (
    <CandidateDialog
      candidateId={candidateId}
      job={session}
      results={results}
      load={(signal) => client.value.sessions.handle(session.session_id).candidate(candidateId, { signal })}
    >
      {(candidate) => <CandidatePrompt session={session} candidate={candidate} />}
    </CandidateDialog>
  );
}
