import { CandidateDialog } from '../search/candidate/dialog.js';
import { GraphComparison } from './comparison.js';
import { PromptLinks } from '../job/candidate-links.js';
import { client } from '../../data/client.js';
import { howMade } from './lineage.js';
import type { GraphJob } from '../../data/graph/types.js';
import { Rollouts } from './candidate-rollouts.js';

/** A candidate of a graph job, with its graph and its rollouts. */
export function GraphCandidate({ job, candidateId }: { job: GraphJob; candidateId: string }) {
  return (
    <CandidateDialog
      candidateId={candidateId}
      job={job}
      results={job}
      load={(signal) => client.value.graphs.handle(job.job_id).candidate(candidateId, { signal })}
      belowTest={(candidate) => <Rollouts job={job} candidate={candidate} />}
    >
      {(candidate) => (
        <section class="part" aria-label="Graph">
          <header class="panel-head">
            <h3>Graph</h3>
            <span class="quiet">{howMade(candidate)}</span>
          </header>
          <PromptLinks id={job.job_id} candidateId={candidateId} isGraph />
          <GraphComparison job={job} candidate={candidate} />
        </section>
      )}
    </CandidateDialog>
  );
}
