import { useState } from 'preact/hooks';
import { useResource } from '../../../data/resource.js';
import { Problem } from '../../../ui/basics.js';
import { Choice } from '../../../ui/choice.js';
import { Prompt } from '../../../ui/prompt.js';
import { PromptLinks } from '../../job/candidate-links.js';
import { client } from '../../../data/client.js';
import { numberOf } from '../../../data/search.js';
import type { CandidateDetail, Session } from '../../../data/session/types.js';

/** The prompt of a candidate, and what it changes in its parent or in the baseline. */
export function CandidatePrompt({ session, candidate }: { session: Session; candidate: CandidateDetail }) {
  const bases = basesOf(session, candidate);
  const [given, setBase] = useState<string | null>(null);
  const base = given !== null && given in bases ? given : Object.keys(bases)[0]!;
  const { data, error } = useResource(`base ${base}`, async (signal) =>
    base === 'text' ? null : client.value.sessions.handle(session.session_id).candidate(base, { signal }),
  );
  return (
    <section class="part" aria-label="Prompt">
      <header class="panel-head">
        <h3>Prompt</h3>
        <Choice label="Compare the prompt with" value={base} options={bases} onChange={setBase} />
      </header>
      <Problem error={error} />
      {candidate.messages === null ? (
        <p class="quiet">The baseline prompt is not known yet.</p>
      ) : (
        <>
          <PromptLinks id={session.session_id} candidateId={candidate.candidate_id} />
          <Prompt messages={candidate.messages} before={data?.messages ?? null} />
        </>
      )}
    </section>
  );
}

/** What a candidate can be compared with, by candidate id; `text`: nothing. */
function basesOf(session: Session, candidate: CandidateDetail): Record<string, string> {
  const baseline = session.lever_summary.baseline_candidate_id;
  const parents = candidate.parent_ids.map((id) => [
    id,
    id === baseline ? 'Against baseline' : `Against parent ${numberOf(id)}`,
  ]);
  const bases = Object.fromEntries(parents) as Record<string, string>;
  if (baseline !== null && !candidate.is_baseline) bases[baseline] = 'Against baseline';
  return { ...bases, text: 'Text' };
}
