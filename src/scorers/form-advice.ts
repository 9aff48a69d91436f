/** Advice for answers that are right in content and that the scorer rejects for their form. */
import { containsWhole } from '../core/verify/contains.js';
import { wholeNumber } from '../core/verify/numbers.js';
import { normalize } from '../core/verify/text.js';

interface Answered {
  /** The right answers; one of them is enough. */
  expected: readonly string[];
  answered: string | null;
}

const alone = 'Ask for the answer alone and show its form';

/** `type`: of the scorer; null: a container, or a verifier of graphs. */
export function formAdvice(type: string | null, rows: readonly Answered[]): string {
  if (type === 'numeric') return 'The scorer reads the last number of an answer: ask for the result at the end.';
  if (type !== 'exact') return `${alone}.`;
  if (rows.every(({ expected }) => expected.every((one) => wholeNumber(one) !== null)))
    return `${alone}, or take the scorer numeric, which reads the last number of an answer and leaves room for steps.`;
  // Elsewhere only the marks differ, such as spaces for the underscores of a label.
  const isContained = ({ expected, answered }: Answered) =>
    expected.some((one) => containsWhole(normalize(one, false), normalize(answered ?? '', false)));
  return rows.some(isContained) ? `${alone}, or take the scorer contains, which reads more.` : `${alone}.`;
}
