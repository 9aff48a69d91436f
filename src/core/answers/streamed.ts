/**
 * Passes the answer of a text that comes in pieces, without the thoughts before it. Invariants: the
 * pieces passed are the end of the text, from the begin of its answer on; nothing is passed of a
 * text whose answer is not known to have begun: read it whole.
 */
import { answerStart, endsThought } from './thoughts.js';

/** Characters in which an opening tag leads, and in which a closing one is looked for. */
const head = 300;
const tail = 64;
/** Times that a text is looked at: a text with many closing tags is held back to its end. */
const maxLooks = 500;

/** `lacksOpening`: thoughts may lead without their opening tag. */
export function passAnswer(pass: (piece: string) => void, lacksOpening: boolean): (piece: string) => void {
  let held: string | null = '';
  let looks = 0;
  return (piece) => {
    if (held === null) return pass(piece);
    held += piece;
    if (held.length > head && !endsThought(held.slice(-tail - piece.length))) return;
    const start = looks < maxLooks ? answerStart(held, lacksOpening) : null;
    looks += 1;
    if (start === null) return;
    const begun = held.slice(start);
    held = null;
    pass(begun);
  };
}
