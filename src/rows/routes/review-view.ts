import type { z } from 'zod';
import type { reviewSchema } from '../../contracts/review.js';
import { iso } from '../../jobs/routes/view.js';
import type { Review } from '../../reviews/store/reviews.js';

/** A review as a key sees it. */
export function reviewView(review: Review, keyId: string | null): z.output<typeof reviewSchema> {
  return {
    review_id: review.id,
    job_id: review.jobId,
    subject_id: review.subjectId,
    row: review.seed,
    candidate_id: review.candidateId,
    verdict: review.verdict,
    note: review.note,
    corrected: review.corrected,
    by: review.reviewer,
    own: review.reviewer === keyId,
    created_at: iso(review.createdAt),
    updated_at: iso(review.updatedAt),
  };
}
