/** Actions that all jobs have. */
import { isActive, type Job } from '../../data/job.js';
import type { PageAction } from '../../ui/action-bar.js';
import { count, dollars } from '../../util/format.js';
import { againLink } from '../new/form/original.js';

/** Changes the request before it runs once more. */
export const editAndRun = (id: string): PageAction => ({ label: 'Edit and run', href: againLink(id) });

/** Asks before a job runs once more, because that costs as much as the first time. */
export function cloneAction(kind: string, { usage, progress }: Job, run: () => Promise<unknown>): PageAction {
  const answers = 'completed' in progress ? progress.completed : progress.rollouts_completed;
  const cost = usage.total_cost_usd === null ? 'of an unknown cost' : `for ${dollars(usage.total_cost_usd)}`;
  const text = (
    <p>
      A new {kind} with the same request and the same budget starts now. It calls the models again: this one took{' '}
      {count(answers)} answers {cost}.
    </p>
  );
  return { label: 'Clone', run, question: { title: `Run this ${kind} again?`, text, answers: ['Clone', 'Cancel'] } };
}

/** Archives a job, or takes it back into the lists; asks first while it runs. */
export function archiveAction(kind: string, job: Job, run: (archived: boolean) => Promise<unknown>): PageAction {
  const action = { label: job.archived ? 'Unarchive' : 'Archive', run: () => run(!job.archived) };
  if (job.archived || !isActive(job.status)) return action;
  return {
    ...action,
    question: {
      title: `Archive this ${kind} while it is ${job.status}?`,
      text: <p>It leaves the list of runs, but goes on and may cost money. To end it, cancel it.</p>,
      answers: [`Archive the ${kind}`, 'Keep it'],
    },
  };
}

/** Asks before a job is cancelled; `undone` says what the job leaves undone. */
export const cancelAction = (kind: string, undone: string, run: () => Promise<unknown>): PageAction => ({
  label: 'Cancel',
  isDanger: true,
  run,
  question: {
    title: `Cancel this ${kind}?`,
    text: <p>{undone} What it has found stays.</p>,
    answers: [`Cancel the ${kind}`, 'Keep it'],
  },
});
