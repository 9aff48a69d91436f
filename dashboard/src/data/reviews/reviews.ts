/** What the reader says of answers: shown at once, sent in turn, undone where it is refused. */
import { signal } from '@preact/signals';
import { RatchetError } from '../../../../src/client/index.js';
import { client } from '../client.js';
import type { Review, ReviewContent, ReviewSubject } from './types.js';

const nothing: ReviewContent = { verdict: null, note: null, corrected: null };

/** What was said on this page, by subject. */
const said = signal<ReadonlyMap<string, ReviewContent>>(new Map());
const refusals = signal<ReadonlyMap<string, Error>>(new Map());
/** Requests of a subject follow one another. */
const sending = new Map<string, Promise<boolean>>();

interface Step {
  subject: ReviewSubject;
  before: ReviewContent;
  /** Where the subject is shown. */
  place: string;
}
const steps: Step[] = [];

/** What the reader says; `reviews`: as the service last told it. */
export function ownReview({ subjectId }: ReviewSubject, reviews: readonly Review[]): ReviewContent {
  return said.value.get(subjectId) ?? reviews.find(({ own }) => own) ?? nothing;
}

/** Why the last change was refused. */
export const refusalOf = ({ subjectId }: ReviewSubject): Error | undefined => refusals.value.get(subjectId);

/** Replaces what the reader says of a subject. Resolves when the service has answered. */
export async function say(subject: ReviewSubject, before: ReviewContent, after: ReviewContent, place: string) {
  const step = { subject, before, place };
  steps.push(step);
  if (!(await change(subject, before, after))) steps.splice(steps.indexOf(step), 1);
}

/** Takes the last change of a job back; returns where its subject is shown, null: there is none. */
export function undo(jobId: string, onSaved: () => void): string | null {
  const at = steps.findLastIndex(({ subject }) => subject.jobId === jobId);
  if (at < 0) return null;
  const [step] = steps.splice(at, 1) as [Step];
  const now = said.peek().get(step.subject.subjectId) ?? step.before;
  void change(step.subject, now, step.before).then(onSaved);
  return step.place;
}

/** Whether the service takes it. */
async function change(subject: ReviewSubject, before: ReviewContent, after: ReviewContent): Promise<boolean> {
  const { subjectId } = subject;
  said.value = new Map(said.peek()).set(subjectId, after);
  setRefusal(subjectId, undefined);
  const sent = (sending.get(subjectId) ?? Promise.resolve(true))
    .then(() => send(subject, after))
    .then(() => true)
    .catch((error: unknown) => {
      // A later change shows what came of it itself.
      if (said.peek().get(subjectId) !== after) return false;
      said.value = new Map(said.peek()).set(subjectId, before);
      setRefusal(subjectId, error as Error);
      return false;
    });
  sending.set(subjectId, sent);
  return sent;
}

function setRefusal(subjectId: string, error: Error | undefined): void {
  const all = new Map(refusals.peek());
  if (error) all.set(subjectId, error);
  else all.delete(subjectId);
  refusals.value = all;
}

async function send({ jobId, subjectId }: ReviewSubject, { verdict, note, corrected }: ReviewContent): Promise<void> {
  const { reviews } = client.value;
  if (verdict ?? note ?? corrected) await reviews.put(jobId, subjectId, { verdict, note, corrected });
  else
    await reviews.delete(jobId, subjectId).catch((error: unknown) => {
      if (!(error instanceof RatchetError && error.status === 404)) throw error;
    });
}
