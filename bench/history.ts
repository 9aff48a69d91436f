import type { temporal } from '@temporalio/proto';

type Event = temporal.api.history.v1.IHistoryEvent;

/** Milliseconds from the start to the completion of each task, as Temporal recorded them. */
export interface TaskTimes {
  workflowTasks: number[];
  /** By activity type. */
  activities: Record<string, number[]>;
}

export function taskTimes(events: readonly Event[]): TaskTimes {
  const byId = new Map(events.map((event) => [`${event.eventId}`, event]));
  const since = (event: Event, startedId: unknown) => timeOf(event) - timeOf(byId.get(`${startedId}`)!);
  const times: TaskTimes = { workflowTasks: [], activities: {} };
  for (const event of events) {
    const { workflowTaskCompletedEventAttributes: task, activityTaskCompletedEventAttributes: activity } = event;
    if (task) times.workflowTasks.push(since(event, task.startedEventId));
    if (!activity) continue;
    const scheduled = byId.get(`${activity.scheduledEventId}`)!.activityTaskScheduledEventAttributes!;
    (times.activities[scheduled.activityType!.name!] ??= []).push(since(event, activity.startedEventId));
  }
  return times;
}

function timeOf({ eventTime }: Event): number {
  return Number(eventTime!.seconds) * 1_000 + (eventTime!.nanos ?? 0) / 1e6;
}
