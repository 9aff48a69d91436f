import type { ComponentChildren } from 'preact';
import { useResource } from '../../../data/resource.js';
import { setQuery } from '../../../util/router.js';
import { Loading, Problem } from '../../../ui/basics.js';
import { Dialog } from '../../../ui/dialog.js';
import { isActive } from '../../../data/job.js';
import { numberOf, type CandidateDetail, type Results, type SearchJob } from '../../../data/search.js';
import { Minibatch } from './minibatch.js';
import { ReflectionView } from './reflection.js';
import { Sentences } from './sentences.js';
import { CandidateSummary } from './summary.js';

const pollMs = 3_000;

/** A candidate of any search: why it was accepted or rejected, and where it comes from. */
export function CandidateDialog<Detail extends CandidateDetail>(props: {
  candidateId: string;
  job: SearchJob;
  results: Results | undefined;
  load: (signal: AbortSignal) => Promise<Detail>;
  /** What the kind of search shows of it, above its test. */
  children: (candidate: Detail) => ComponentChildren;
  belowTest?: (candidate: Detail) => ComponentChildren;
}) {
  const { candidateId, job, results, load, children, belowTest } = props;
  const { data: candidate, error } = useResource(
    `candidate ${candidateId}`,
    load,
    isActive(job.status) ? pollMs : null,
  );
  return (
    <Dialog title={`Candidate ${numberOf(candidateId)}`} onClose={() => setQuery({ candidate: null })} wide>
      <Problem error={error} />
      {!candidate && !error && <Loading />}
      {candidate && (
        <>
          <CandidateSummary candidate={candidate} job={job} results={results} />
          {children(candidate)}
          <Minibatch candidate={candidate} />
          {belowTest?.(candidate)}
          <Sentences candidate={candidate} />
          <ReflectionView candidate={candidate} />
        </>
      )}
    </Dialog>
  );
}
