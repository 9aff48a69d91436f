import { useState } from 'preact/hooks';
import { useResource } from '../../data/resource.js';
import { reward } from '../../util/format.js';
import { here } from '../../util/router.js';
import { Empty, Loading, Panel, Problem } from '../../ui/basics.js';
import { Copy } from '../../ui/copy.js';
import { Choice } from '../../ui/choice.js';
import { Prompt } from '../../ui/diff/prompt.js';
import { PromptLinks } from '../job/candidate-links.js';
import { client } from '../../data/client.js';
import { numberOf } from '../../data/search.js';
import { ChoicePanel, RemovalPanel } from './other-prompts.js';
import type { Results, Session } from '../../data/session/types.js';

const views = { text: 'Text', diff: 'Against baseline' };

/** The best prompt, to read and to copy, and others to choose in its place. */
export function PromptTab({ session, results }: { session: Session; results: Results | undefined }) {
  const [view, setView] = useState<keyof typeof views>('text');
  const baselineId = session.lever_summary.baseline_candidate_id;
  const { data: baseline, error } = useResource(`baseline ${baselineId}`, async (signal) =>
    baselineId === null ? null : client.value.sessions.handle(session.session_id).candidate(baselineId, { signal }),
  );
  if (!results) return <Loading />;
  const { best_prompt: best, best_candidate: candidate, shorter_prompt: shorter } = results;
  if (best === null) return <Empty>There is a best prompt when a candidate is evaluated.</Empty>;
  return (
    <>
      <Panel
        title="Best prompt"
        aside={
          <div class="actions">
            <Choice label="View of the prompt" value={view} options={views} onChange={setView} />
            <Copy text={JSON.stringify(best.messages, null, 2)} label="Copy as JSON" />
          </div>
        }
      >
        <p class="quiet">
          {candidate && (
            <a href={here({ candidate: candidate.candidate_id })}>Candidate {numberOf(candidate.candidate_id)}</a>
          )}
          {candidate?.is_baseline && ', the baseline'}, reward {reward(best.reward)}
        </p>
        {candidate && <PromptLinks id={session.session_id} candidateId={candidate.candidate_id} />}
        <Problem error={error} />
        <Prompt messages={best.messages} before={view === 'diff' ? (baseline?.messages ?? null) : null} />
      </Panel>
      {shorter && <RemovalPanel shorter={shorter} />}
      <ChoicePanel session={session} bestId={candidate?.candidate_id ?? null} />
    </>
  );
}
