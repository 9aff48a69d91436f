import { useResource } from '../../../data/resource.js';
import { setQuery } from '../../../router.js';
import { Loading, Problem } from '../../../ui/basics.js';
import { Dialog } from '../../../ui/dialog.js';
import { Minibatch } from '../../search/candidate/minibatch.js';
import { ReflectionView } from '../../search/candidate/reflection.js';
import { Sentences } from '../../search/candidate/sentences.js';
import { CandidateSummary } from '../../search/candidate/summary.js';
import { isActive, numberOf } from '../../search/types.js';
import { GraphComparison } from '../comparison.js';
import { loadCandidate } from '../data.js';
import { howMade } from '../lineage.js';
import type { GraphJob } from '../types.js';
import { Rollouts } from './rollouts.js';

const pollMs = 3_000;

/** A candidate: its graph, why it was accepted or rejected, and its rollouts. */
export function CandidateDialog({ job, candidateId }: { job: GraphJob; candidateId: string }) {
  const { data: candidate, error } = useResource(
    `candidate ${candidateId}`,
    (signal) => loadCandidate(job.job_id, candidateId, signal),
    isActive(job.status) ? pollMs : null,
  );
  return (
    <Dialog title={`Candidate ${numberOf(candidateId)}`} onClose={() => setQuery({ candidate: null })} wide>
      <Problem error={error} />
      {!candidate && !error && <Loading />}
      {candidate && (
        <>
          <CandidateSummary candidate={candidate} />
          <section class="part" aria-label="Graph">
            <header class="panel-head">
              <h3>Graph</h3>
              <span class="quiet">{howMade(candidate)}</span>
            </header>
            <GraphComparison job={job} candidate={candidate} />
          </section>
          <Minibatch candidate={candidate} />
          <Rollouts job={job} candidate={candidate} />
          <Sentences candidate={candidate} />
          <ReflectionView candidate={candidate} />
        </>
      )}
    </Dialog>
  );
}
