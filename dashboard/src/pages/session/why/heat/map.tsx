import { useEffect, useRef, useState } from 'preact/hooks';
import { reward } from '../../../../util/format.js';
import { go, here } from '../../../../util/router.js';
import { useWidth } from '../../../../ui/hooks/use-width.js';
import { numberOf } from '../../../../data/search.js';
import { pixelsOf } from './colors.js';
import type { RewardMatrix } from './matrix.js';
import type { Order } from './order.js';
import { cellSize, moved, type Place } from './place.js';

/** The width in pixels from which columns have numbers above them, and the height of these. */
const leastNumbered = 28;
const headHeight = 18;

/** The map as a canvas of one pixel per cell, which the browser enlarges. */
export function HeatMap({ matrix, order }: { matrix: RewardMatrix; order: Order }) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [place, setPlace] = useState<Place | null>(null);
  const [rows, columns] = [order.rows.length, order.columns.length];
  const cell = cellSize(rows, columns, useWidth(box));
  const head = cell.width < leastNumbered ? 0 : headHeight;
  useEffect(() => {
    const image = new ImageData(pixelsOf(matrix, order), columns, rows);
    canvas.current!.getContext('2d')!.putImageData(image, 0, 0);
  }, [matrix, order]);
  // Rows may be fewer than when the place was taken.
  const current = place !== null && place.row < rows && place.column < columns ? place : null;
  const found = current && matrix.cell(order.rows[current.row]!, order.columns[current.column]!);
  const open = () => found && go(here({ trace: found.traceId }));
  const placeAt = ({ offsetX, offsetY }: MouseEvent): Place => ({
    row: Math.max(0, Math.min(rows - 1, Math.floor(offsetY / cell.height))),
    column: Math.max(0, Math.min(columns - 1, Math.floor(offsetX / cell.width))),
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const next = moved(current, event.key, rows, columns);
    if (next === undefined && event.key !== 'Enter') return;
    event.preventDefault();
    if (next === undefined) return open();
    setPlace(next);
    showIn(box.current!, next, cell, head);
  };
  return (
    <>
      <div
        ref={box}
        class="why-scroll heat"
        role="application"
        aria-label={`Rewards of ${columns} candidates on ${rows} rows`}
        aria-describedby="heat-said"
        tabIndex={0}
        onKeyDown={onKeyDown}
        onFocus={() => setPlace(current ?? { row: 0, column: 0 })}
      >
        {head > 0 && (
          <div class="heat-heads" style={{ height: `${head}px` }} aria-hidden="true">
            {order.columns.map((column) => (
              <span key={column} style={{ width: `${cell.width}px` }}>
                {numberOf(matrix.candidateIds[column]!)}
              </span>
            ))}
          </div>
        )}
        <div class="heat-space" style={{ width: `${columns * cell.width}px`, height: `${rows * cell.height}px` }}>
          <canvas
            ref={canvas}
            width={columns}
            height={rows}
            onMouseMove={(event) => setPlace(placeAt(event))}
            onClick={open}
          />
          {current && <Marker place={current} cell={cell} />}
        </div>
      </div>
      <p class="why-said" id="heat-said" aria-live="polite">
        {current && <Said matrix={matrix} order={order} place={current} />}
      </p>
    </>
  );
}

type Size = ReturnType<typeof cellSize>;

function Marker({ place: { row, column }, cell }: { place: Place; cell: Size }) {
  const transform = `translate(${column * cell.width}px, ${row * cell.height}px)`;
  return <div class="heat-marker" style={{ transform, width: `${cell.width}px`, height: `${cell.height}px` }} />;
}

function Said({ matrix, order, place }: { matrix: RewardMatrix; order: Order; place: Place }) {
  const [row, column] = [order.rows[place.row]!, order.columns[place.column]!];
  const cell = matrix.cell(row, column);
  return (
    <>
      Row <strong>{matrix.seeds[row]}</strong>, candidate <strong>{numberOf(matrix.candidateIds[column]!)}</strong>:{' '}
      {cell === null && 'not run'}
      {cell &&
        (cell.reward === null ? (
          'failed'
        ) : (
          <>
            reward <strong>{reward(cell.reward)}</strong>
          </>
        ))}
      {cell && cell.succeeded > 1 && `, the mean of ${cell.succeeded} answers`}
      {cell && cell.failed > 0 && cell.succeeded > 0 && `, ${cell.failed} failed`}
    </>
  );
}

/** Scrolls a cell into view, `head` pixels below the begin of the box. */
function showIn(box: HTMLElement, { row, column }: Place, { width, height }: Size, head: number): void {
  const into = (start: number, size: number, view: number, at: number) =>
    Math.min(at, Math.max(start, at + size - view));
  box.scrollTo({
    top: into(box.scrollTop, height, box.clientHeight, row === 0 ? 0 : head + row * height),
    left: into(box.scrollLeft, width, box.clientWidth, column * width),
  });
}
