import type { Item } from '../../../../src/client/index.js';

export type Review = Item<'listReviews'>;
export type ReviewVerdict = NonNullable<Review['verdict']>;
export type ReviewContent = Pick<Review, 'verdict' | 'note' | 'corrected'>;

/** A rollout of a job, or an answer of a deployment. */
export interface ReviewSubject {
  jobId: string;
  subjectId: string;
}
