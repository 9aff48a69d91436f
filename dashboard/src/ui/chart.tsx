import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { isDark } from './theme.js';

/** Options of uPlot without a size: the chart takes the width of its container. */
export type ChartOptions = Omit<uPlot.Options, 'width' | 'height'>;

/** A uPlot chart. `options` must be the same object while only the data change. */
export function Chart(props: { label: string; options: ChartOptions; data: uPlot.AlignedData; height: number }) {
  const { options, data, height } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const container = box.current!;
    const made = new uPlot({ ...options, width: Math.max(200, container.clientWidth), height }, data, container);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: Math.max(200, container.clientWidth), height }));
    observer.observe(container);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [options, height]);
  useEffect(() => plot.current?.setData(data), [data]);
  // Options name colors by functions, which read the theme.
  useEffect(() => plot.current?.redraw(false, true), [isDark.value]);
  return <div ref={box} class="chart" role="img" aria-label={props.label} />;
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
