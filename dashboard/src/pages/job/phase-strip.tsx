import { phaseName, progressInWords } from '../../../../src/core/jobs/phase.js';
import { unitOfView } from '../../../../src/core/jobs/unit.js';
import type { Job } from '../../data/job.js';

type Phase = NonNullable<Job['progress']['phase']>;
type Name = Phase['name'];

/** The phases that a job goes through, and how far it is in the current one. */
export function PhaseStrip({ job }: { job: Job }) {
  const { phase } = job.progress;
  const names = namesOf(job);
  const unit = unitOfView(job);
  const current = phase ? names.indexOf(phase.name) : -1;
  return (
    <ol class="phases" aria-label="Phases">
      {current < 0 && (
        <li class="phase phase-now" aria-current="step">
          <strong>preparation</strong> <span>container and models are checked</span>
        </li>
      )}
      {names.map((name, index) => (
        <li
          key={name}
          class={`phase ${index < current ? 'phase-done' : index === current ? 'phase-now' : ''}`}
          aria-current={index === current ? 'step' : undefined}
        >
          <strong>{phaseName(name, unit)}</strong>
          {phase && index === current && <Now job={job} phase={phase} />}
        </li>
      ))}
    </ol>
  );
}

function Now({ job, phase }: { job: Job; phase: Phase }) {
  const round = 'generation' in job.progress ? job.progress.generation : 0;
  return (
    <>
      <span>{progressInWords(phase, round)}</span>
      <progress
        aria-label={`Answers of ${phaseName(phase.name, unitOfView(job))}`}
        value={phase.done}
        max={Math.max(1, phase.total)}
      />
    </>
  );
}

/** Those in the order of the first time that a search enters them. */
function namesOf(job: Job): Name[] {
  if (!('generation' in job.progress)) return ['rows'];
  const split = 'split' in job ? job.split : undefined;
  // The seeds of a container are in no split: its last phase is shown when it begins.
  const hasHeldout = (split?.heldout.length ?? 0) > 0 || job.progress.phase?.name === 'heldout';
  return ['baseline', 'search', 'evaluation', ...(hasHeldout ? (['heldout'] as const) : [])];
}
