import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { isDark } from '../theme.js';

/** Options of uPlot without a size: the chart takes the width of its container. */
export type ChartOptions = Omit<uPlot.Options, 'width' | 'height'>;

/** Room that a legend of one line takes. */
export const legendHeight = 34;

/**
 * A uPlot chart. `options` must be the same object while only the data change. `overlay` is drawn
 * over it each time the chart is drawn; `drawn` counts them.
 */
export function Chart(props: {
  label: string;
  options: ChartOptions;
  data: uPlot.AlignedData;
  height: number;
  overlay?: (plot: uPlot, drawn: number) => ComponentChildren;
}) {
  const { options, data, height, overlay } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [drawn, noteDrawn] = useState(0);
  useEffect(() => {
    const container = box.current!;
    const widthNow = () => Math.max(200, container.clientWidth);
    const hooks = { ...options.hooks, draw: [() => noteDrawn((n) => n + 1)] };
    const made = new uPlot({ ...options, hooks, width: widthNow(), height }, data, container);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: widthNow(), height }));
    observer.observe(container);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [options, height]);
  // Before the next frame, so that the overlay stands where the lines do.
  useLayoutEffect(() => plot.current?.setData(data), [data]);
  // Options name colors by functions, which read the theme.
  useEffect(() => plot.current?.redraw(false, true), [isDark.value]);
  return (
    <div class="chart-frame" style={{ minHeight: `${height + legendHeight}px` }}>
      <div ref={box} class="chart" role="img" aria-label={props.label} />
      {plot.current && overlay?.(plot.current, drawn)}
    </div>
  );
}

/** The color of a property of the theme now; charts draw with it. */
export function color(name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
