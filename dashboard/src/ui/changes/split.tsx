import { useMemo } from 'preact/hooks';
import { wordPieces, type WordPiece } from '../../../../src/core/prompts/changes/words.js';

/** Two texts one below the other, with the words marked that only one of them has. */
export function SplitDiff({ names, before, after }: { names: [string, string]; before: string; after: string }) {
  const pieces = useMemo(() => wordPieces(before, after), [before, after]);
  return (
    <dl class="split-diff">
      <dt>{names[0]}</dt>
      <dd>
        <Side pieces={pieces} without="added" />
      </dd>
      <dt>{names[1]}</dt>
      <dd>
        <Side pieces={pieces} without="removed" />
      </dd>
    </dl>
  );
}

function Side({ pieces, without }: { pieces: readonly WordPiece[]; without: 'added' | 'removed' }) {
  return (
    <pre class="prompt-text" dir="auto" tabIndex={0}>
      {pieces
        .filter(({ kind }) => kind !== without)
        .map(({ kind, text }, n) => {
          if (kind === 'same') return <span key={n}>{text}</span>;
          return kind === 'added' ? <ins key={n}>{text}</ins> : <del key={n}>{text}</del>;
        })}
    </pre>
  );
}
