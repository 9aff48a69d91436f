import { promptfooRows } from '../../../../src/cli/export/promptfoo-tests.js';
import { inputName } from '../../../../src/core/prompts/row-template.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { numberOf } from '../../data/search.js';
import type { Results, Session } from '../../data/session/types.js';
import { Empty, Loading, Problem } from '../../ui/basics.js';
import { Prompt } from '../../ui/prompt.js';
import { shortId } from '../../util/format.js';
import { here } from '../../util/router.js';
import { PromptLinks } from '../job/candidate-links.js';
import { PromptViews } from '../search/changes/views.js';
import { verdictWords } from '../search/verdict.js';
import { ChoicePanel, RemovalPanel } from './other-prompts.js';

/** The best prompt, what it changes and why, and others to choose in its place. */
export function PromptTab({ session, results }: { session: Session; results: Results | undefined }) {
  if (!results) return <Loading />;
  const { best_prompt: best, best_candidate: candidate, shorter_prompt: shorter } = results;
  if (best === null || candidate === null) return <Empty>There is a best prompt when a candidate is evaluated.</Empty>;
  return (
    <>
      <BestPrompt key={candidate.candidate_id} session={session} results={results} id={candidate.candidate_id} />
      {shorter && <RemovalPanel shorter={shorter} />}
      <ChoicePanel session={session} bestId={candidate.candidate_id} />
    </>
  );
}

function BestPrompt({ session, results, id }: { session: Session; results: Results; id: string }) {
  const { data: candidate, error } = useResource(`prompt ${id} ${session.status}`, (signal) =>
    client.value.sessions.handle(session.session_id).candidate(id, { signal }),
  );
  const datasetId = session.dataset?.dataset_id;
  const { data: columns } = useResource(`columns ${datasetId}`, async (signal) =>
    datasetId === undefined ? [] : (await client.value.datasets.get(datasetId, { signal })).columns,
  );
  const { data: tests } = useResource(`tests ${id} ${datasetId}`, async () =>
    datasetId === undefined ? null : promptfooRows(client.value, session.session_id, datasetId),
  );
  if (!candidate) return error ? <Problem error={error} /> : <Loading />;
  const { messages } = results.best_prompt!;
  const inputs = columns && columns.length > 0 ? [inputName, ...columns.map(({ name }) => name)] : [];
  return (
    <PromptViews
      title="Best prompt"
      jobId={session.job_id}
      candidate={candidate}
      facts={
        <>
          <p class="quiet">
            <a href={here({ candidate: id })}>Candidate {numberOf(id)}</a>
            {candidate.is_baseline && ', the baseline'}
          </p>
          <PromptLinks id={session.session_id} candidateId={id} />
        </>
      }
      clean={<Prompt messages={messages} />}
      copy={{
        messages,
        policy: session.policy,
        inputs,
        tests: tests ?? null,
        title: `Prompt of ${session.name ?? shortId(session.session_id)}: candidate ${numberOf(id)}`,
        verdict: verdictWords(results),
      }}
    />
  );
}
