import { useState } from 'preact/hooks';
import { count } from '../util/format.js';

const longest = 1_500;

/** Text of models and users as it is; a long one begins folded. */
export function LongText({ text, limit = longest }: { text: string; limit?: number }) {
  const [isOpen, setOpen] = useState(false);
  const isLong = text.length > limit * 1.2;
  return (
    <>
      <pre class="long-text" dir="auto">
        {isLong && !isOpen ? `${text.slice(0, limit)} …` : text}
      </pre>
      {isLong && (
        <button
          type="button"
          class="button button-small"
          aria-expanded={isOpen}
          onClick={() => setOpen((wasOpen) => !wasOpen)}
        >
          {isOpen ? 'Show less' : `Show all ${count(text.length)} characters`}
        </button>
      )}
    </>
  );
}
