import { useMemo, useState } from 'preact/hooks';
import type { Graph, Step } from '../../../../src/core/graphs/graph.js';
import { stepRefs } from '../../../../src/core/graphs/refs.js';
import { changesOf, inputBox, outputBox, type Change, type Changes } from './changes.js';
import { layoutGraph, type Point } from './layout/layout.js';
import { nextInList, useRoving } from '../../ui/hooks/use-roving.js';
import { StepDialog } from './step-dialog.js';
import { firstLine, inputText, kindOf, modelOf } from './step-text.js';

const stepSize = { width: 196, height: 96 };
const endSize = { width: 128, height: 62 };

/** A graph from left to right; with `before`, marked by what it changes. A click shows a step. */
export function GraphDrawing(props: { label: string; graph: Graph; before: Graph | null; model: string }) {
  const { label, graph, before, model } = props;
  const [opened, setOpened] = useState<string | null>(null);
  const changes = useMemo(() => changesOf(graph, before), [graph, before]);
  const layout = useMemo(() => layoutGraph(boxesOf(changes), changes.edges), [changes]);
  // By layer and from top to bottom.
  const ids = layout.boxes.map(({ id }) => id).filter((id) => changes.steps.has(id));
  const roving = useRoving(ids, nextInList(ids));
  const openedStep = opened === null ? undefined : changes.steps.get(opened);
  return (
    <div class="graph-scroll" tabIndex={0} role="region" aria-label={label}>
      <div
        class="graph-drawing"
        onKeyDown={roving.onKeyDown}
        style={{ width: `${layout.width}px`, height: `${layout.height}px` }}
      >
        <svg class="graph-edges" width={layout.width} height={layout.height} aria-hidden="true">
          {layout.links.map(({ link: edge, points }) => (
            <path key={`${edge.from} ${edge.to}`} class={`graph-edge graph-edge-${edge.change}`} d={curveOf(points)}>
              <title>{[marks[edge.change], ...edge.carries].filter(Boolean).join('\n')}</title>
            </path>
          ))}
          {layout.links.map(({ link: edge, points }) => (
            <Arrow key={`${edge.from} ${edge.to}`} at={points.at(-1)!} change={edge.change} />
          ))}
        </svg>
        {layout.boxes.map(({ id, x, y, width, height }) => {
          const place = { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` };
          const step = changes.steps.get(id);
          if (step)
            return (
              <button
                key={id}
                {...roving.part(id)}
                type="button"
                class={boxClass(step.change)}
                style={place}
                onClick={() => setOpened(id)}
              >
                <StepBox step={(step.after ?? step.before)!} change={step.change} model={model} />
              </button>
            );
          const isInput = id === inputBox;
          return (
            <div key={id} class={`${boxClass(isInput ? changes.input : changes.output)} graph-end`} style={place}>
              <span class="graph-name">{isInput ? 'input' : 'output'}</span>
              <span class="graph-line">{isInput ? inputText(graph) : graph.output}</span>
            </div>
          );
        })}
      </div>
      {openedStep && <StepDialog {...openedStep} model={model} onClose={() => setOpened(null)} />}
    </div>
  );
}

const boxesOf = ({ steps }: Changes) => [
  { id: inputBox, ...endSize },
  ...[...steps.keys()].map((id) => ({ id, ...stepSize })),
  { id: outputBox, ...endSize },
];

const boxClass = (change: Change): string => `graph-box graph-box-${change}`;

const marks: Record<Change, string | null> = {
  same: null,
  added: '+ added',
  removed: '− removed',
  changed: '~ changed',
};

function StepBox({ step, change, model }: { step: Step; change: Change; model: string }) {
  const refs = [...new Set(stepRefs(step).map(({ ref }) => ref))].join(', ');
  return (
    <>
      <span class="graph-head">
        <span class="graph-name">{step.id}</span>
        {marks[change] && <span class="graph-mark">{marks[change]}</span>}
      </span>
      <span class="graph-line quiet">{[kindOf(step), modelOf(step, model)].filter(Boolean).join(' · ')}</span>
      <span class="graph-text">{firstLine(step)}</span>
      <span class="visually-hidden">, takes {refs || 'nothing'}</span>
    </>
  );
}

/** A smooth line through the points. */
function curveOf([first, ...others]: readonly Point[]): string {
  let { x, y } = first!;
  const parts = [`M${x} ${y}`];
  for (const next of others) {
    const bend = Math.abs(next.x - x) / 2;
    parts.push(`C${x + bend} ${y} ${next.x - bend} ${next.y} ${next.x} ${next.y}`);
    ({ x, y } = next);
  }
  return parts.join('');
}

function Arrow({ at: { x, y }, change }: { at: Point; change: Change }) {
  return <path class={`graph-arrow graph-edge-${change}`} d={`M${x} ${y}l-7 -4v8z`} />;
}
