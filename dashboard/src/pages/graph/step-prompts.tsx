import { client } from '../../data/client.js';
import type { GraphJob } from '../../data/graph/types.js';
import { useResource } from '../../data/resource.js';
import { numberOf } from '../../data/search.js';
import { Loading, Problem } from '../../ui/basics.js';
import { Copy } from '../../ui/copy.js';
import { shortId } from '../../util/format.js';
import { PromptViews } from '../search/changes/views.js';
import { verdictWords } from '../search/verdict.js';

/** The prompts of a candidate's steps: what they change, and who wrote what. */
export function StepPrompts({ job, id }: { job: GraphJob; id: string }) {
  const { data: candidate, error } = useResource(`prompts ${id}`, (signal) =>
    client.value.graphs.handle(job.job_id).candidate(id, { signal }),
  );
  if (!candidate) return error ? <Problem error={error} /> : <Loading />;
  const { prompts } = candidate;
  return (
    <PromptViews
      title="Prompts of the steps"
      jobId={job.job_id}
      candidate={candidate}
      clean={
        <div class="prompt">
          {prompts.map(({ component, text }) => (
            <div key={component} class="prompt-part" role="group" aria-label={`Message ${component}`}>
              <header class="prompt-part-head">
                <span class="prompt-role">{component}</span>
                <Copy text={text} label={`Copy ${component}`} />
              </header>
              <pre class="prompt-text" dir="auto" tabIndex={0}>
                {text}
              </pre>
            </div>
          ))}
        </div>
      }
      copy={{
        parts: prompts,
        title: `Graph ${job.name ?? shortId(job.job_id)}: candidate ${numberOf(id)}`,
        verdict: id === job.best_candidate?.candidate_id ? verdictWords(job) : null,
      }}
    />
  );
}
