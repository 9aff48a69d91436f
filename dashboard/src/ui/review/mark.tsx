import { ownReview, refusalOf } from '../../data/reviews/reviews.js';
import type { Review, ReviewSubject, ReviewVerdict } from '../../data/reviews/types.js';

export const verdictWords: Record<ReviewVerdict, string> = {
  right: 'right',
  wrong: 'wrong',
  bad_expected: 'bad expected value',
};

/** What people say of an answer, in a list. */
export function ReviewMark({ subject, reviews }: { subject: ReviewSubject; reviews: readonly Review[] }) {
  const refusal = refusalOf(subject);
  const { verdict: own } = ownReview(subject, reviews);
  const verdicts = new Set([own, ...reviews.filter((review) => !review.own).map(({ verdict }) => verdict)]);
  return (
    <>
      {refusal && (
        <span class="review-mark bad" title={refusal.message}>
          not saved
        </span>
      )}
      {[...verdicts].map(
        (verdict) =>
          verdict && (
            <span key={verdict} class={`review-mark review-${verdict}`}>
              {verdictWords[verdict]}
            </span>
          ),
      )}
    </>
  );
}
