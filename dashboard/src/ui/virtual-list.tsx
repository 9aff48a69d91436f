import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Browsers limit the height of an element; longer lists scroll in larger steps. */
const maxHeight = 8_000_000;
/** Pixels above and below the view whose rows are in the page, too. */
const margin = 600;

/** Shorter lists scroll with their page, in full. */
const mostInFull = 60;

/** The height of a list with so many rows, and of all its parts in pixels. */
export const heightOf = (count: number, pixels: number): string =>
  count <= mostInFull ? `${pixels}px` : `min(70vh, ${pixels}px)`;

interface Props {
  count: number;
  rowHeight: number;
  label: string;
  /** Height of the list, as CSS. */
  height: string;
  /** Keeps the end in view while it is in view. */
  followEnd?: boolean;
  /** The row that is kept in view, if there is one. */
  current?: number | undefined;
  /** Cells above the rows, which stay in view: the list is a table, and rows have cells. */
  head?: ComponentChildren;
  row: (index: number) => ComponentChildren;
}

/** A list of rows of one height; only those in view are in the page. */
export function VirtualList(props: Props) {
  const { count, rowHeight } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const isAtEnd = useRef(true);
  const total = count * rowHeight;
  const shown = Math.min(total, maxHeight);
  const scale = total > view.height ? (total - view.height) / Math.max(1, shown - view.height) : 1;

  const read = () => {
    const { scrollTop, clientHeight, scrollHeight } = box.current!;
    isAtEnd.current = scrollTop + clientHeight >= scrollHeight - rowHeight;
    setView({ top: scrollTop, height: clientHeight });
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(read);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (props.followEnd && isAtEnd.current) box.current!.scrollTop = box.current!.scrollHeight;
  }, [count, props.followEnd]);

  useCurrentInView(box, { current: props.current, count, rowHeight, scale });

  const offset = view.top * scale;
  const first = Math.max(0, Math.floor((offset - margin) / rowHeight));
  const last = Math.min(count, Math.ceil((offset + view.height + margin) / rowHeight));
  // In a list of full height a row keeps its place: the browser paints only those that come.
  const origin = scale === 1 ? 0 : first;
  const shift = view.top + origin * rowHeight - offset;
  const cellsOf = useCells(props.row, first, last);
  const isTable = props.head !== undefined;
  return (
    <div
      ref={box}
      class="virtual"
      style={{ height: props.height }}
      onScroll={read}
      role={isTable ? 'table' : 'list'}
      aria-rowcount={isTable ? count + 1 : undefined}
      aria-label={props.label}
      tabIndex={0}
    >
      <div class="virtual-content" role="presentation">
        {isTable && (
          <div class="virtual-head" role="row" aria-rowindex={1}>
            {props.head}
          </div>
        )}
        <div class="virtual-space" role="presentation" style={{ height: `${shown}px` }}>
          <div role="presentation" style={scale === 1 ? undefined : { transform: `translateY(${shift}px)` }}>
            {Array.from({ length: Math.max(0, last - first) }, (_, n) => (
              <div
                key={first + n}
                {...(isTable
                  ? { role: 'row', 'aria-rowindex': first + n + 2 }
                  : { role: 'listitem', 'aria-setsize': count, 'aria-posinset': first + n + 1 })}
                class="virtual-row"
                aria-current={first + n === props.current ? 'true' : undefined}
                style={{ top: `${(first + n - origin) * rowHeight}px`, height: `${rowHeight}px` }}
              >
                {cellsOf(first + n)}
              </div>
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

/** The cells of rows: those of the render before where only the scroll position has changed. */
function useCells(row: Props['row'], first: number, last: number): (index: number) => ComponentChildren {
  const kept = useRef({ row, cells: new Map<number, ComponentChildren>() });
  const before = kept.current.row === row ? kept.current.cells : new Map<number, ComponentChildren>();
  const cells = new Map<number, ComponentChildren>();
  for (let index = first; index < last; index++) cells.set(index, before.get(index) ?? row(index));
  kept.current = { row, cells };
  return (index) => cells.get(index);
}

/** Scrolls to a row when it becomes the current one and is out of view. */
function useCurrentInView(
  box: RefObject<HTMLDivElement | null>,
  list: { current: number | undefined; count: number; rowHeight: number; scale: number },
): void {
  const { current = -1, count, rowHeight, scale } = list;
  useLayoutEffect(() => {
    const { scrollTop, clientHeight } = box.current!;
    const [top, shownTop] = [current * rowHeight, scrollTop * scale];
    // The head covers as much of the rows as one of them.
    if (current >= 0 && (top < shownTop || top + 2 * rowHeight > shownTop + clientHeight))
      box.current!.scrollTop = Math.max(0, top - clientHeight / 3) / scale;
  }, [current, count]);
}
