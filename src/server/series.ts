/**
 * Counters, gauges and histograms in the Prometheus text format, kept in plain maps: counting costs one map
 * look-up, and text is made only when someone scrapes.
 * Source: https://prometheus.io/docs/instrumenting/exposition_formats/
 */

export type Labels = Readonly<Record<string, string>>;

interface Family {
  name: string;
  lines(): string[];
}

export interface Registry {
  counter(name: string, help: string): (labels?: Labels, by?: number) => void;
  gauge(name: string, help: string): (labels: Labels, value: number) => void;
  /** `bounds` are the upper ends of the buckets, ascending. */
  histogram(name: string, help: string, bounds: readonly number[]): (labels: Labels, value: number) => void;
  /** A figure that is read when it is scraped: a counter when its name ends in `_total`, else a gauge. */
  watch(name: string, help: string, read: () => number): void;
  render(): string;
}

/** Beyond it a metric counts into one series `other`: a label that grows without end must not eat the memory. */
const maxSeries = 200;

export function createRegistry(): Registry {
  const families = new Map<string, Family>();

  function add(name: string, help: string, type: string, lines: () => string[]): void {
    if (families.has(name)) throw new TypeError(`The metric ${name} is there already.`);
    const head = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
    families.set(name, { name, lines: () => [...head, ...lines()] });
  }

  function valueFamily(name: string, help: string, type: 'counter' | 'gauge') {
    const values = new Map<string, number>();
    add(name, help, type, () => [...values].map(([labels, value]) => `${name}${braced(labels)} ${value}`));
    return values;
  }

  return {
    counter(name, help) {
      const values = valueFamily(name, help, 'counter');
      return (labels = {}, by = 1) => {
        const series = seriesOf(values, labels);
        values.set(series, (values.get(series) ?? 0) + by);
      };
    },
    gauge(name, help) {
      const values = valueFamily(name, help, 'gauge');
      return (labels, value) => values.set(seriesOf(values, labels), value);
    },
    histogram(name, help, bounds) {
      const values = new Map<string, Histogram>();
      add(name, help, 'histogram', () =>
        [...values].flatMap(([labels, histogram]) => histogramLines(name, labels, bounds, histogram)),
      );
      return (labels, value) => {
        const series = seriesOf(values, labels);
        let histogram = values.get(series);
        if (histogram === undefined) {
          histogram = { counts: new Array<number>(bounds.length).fill(0), count: 0, sum: 0 };
          values.set(series, histogram);
        }
        observe(histogram, bounds, value);
      };
    },
    watch(name, help, read) {
      add(name, help, name.endsWith('_total') ? 'counter' : 'gauge', () => [`${name} ${read()}`]);
    },
    render: () => `${[...families.values()].flatMap(linesOrNone).join('\n')}\n`,
  };
}

interface Histogram {
  /** By bucket, not cumulated. */
  counts: number[];
  count: number;
  sum: number;
}

function observe(histogram: Histogram, bounds: readonly number[], value: number): void {
  const bucket = bounds.findIndex((bound) => value <= bound);
  if (bucket >= 0) histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1;
  histogram.count += 1;
  histogram.sum += value;
}

function histogramLines(
  name: string,
  labels: string,
  bounds: readonly number[],
  { counts, count, sum }: Histogram,
): string[] {
  const prefix = labels === '' ? '' : `${labels},`;
  let below = 0;
  const buckets = bounds.map((bound, index) => {
    below += counts[index] ?? 0;
    return `${name}_bucket{${prefix}le="${bound}"} ${below}`;
  });
  return [
    ...buckets,
    `${name}_bucket{${prefix}le="+Inf"} ${count}`,
    `${name}_sum${braced(labels)} ${sum}`,
    `${name}_count${braced(labels)} ${count}`,
  ];
}

function linesOrNone(family: Family): string[] {
  try {
    return family.lines();
  } catch (error) {
    // One broken gauge must not hide the others; the comment tells the person who scrapes by hand.
    return [`# ${family.name} could not be read: ${String(error).replaceAll('\n', ' ')}`];
  }
}

function seriesOf(known: ReadonlyMap<string, unknown>, labels: Labels): string {
  const text = labelText(labels);
  if (known.has(text) || known.size < maxSeries) return text;
  return labelText(Object.fromEntries(Object.keys(labels).map((name) => [name, 'other'])));
}

function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',');
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function braced(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}
