import { useMemo } from 'preact/hooks';
import { wordPieces, type WordPiece } from '../../../../src/core/prompts/changes/words.js';

/** Two texts of equal standing, one below the other: what only one of them has is marked. */
export function SideBySide({ names, texts }: { names: [string, string]; texts: [string, string] }) {
  const [one, other] = texts;
  const pieces = useMemo(() => wordPieces(one, other), [one, other]);
  return (
    <dl class="side-by-side">
      <dt>{names[0]}</dt>
      <dd>
        <Side pieces={pieces.filter(({ kind }) => kind !== 'added')} />
      </dd>
      <dt>{names[1]}</dt>
      <dd>
        <Side pieces={pieces.filter(({ kind }) => kind !== 'removed')} />
      </dd>
    </dl>
  );
}

function Side({ pieces }: { pieces: readonly WordPiece[] }) {
  return (
    <pre class="prompt-text" dir="auto" tabIndex={0}>
      {pieces.map(({ kind, text }, n) => (kind === 'same' ? <span key={n}>{text}</span> : <mark key={n}>{text}</mark>))}
    </pre>
  );
}
