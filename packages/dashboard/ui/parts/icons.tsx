/** Own drawings on a grid of 16. */
const PATHS = {
  overview: 'M2 9h5V2H2zM9 14h5V7H9zM2 14h5v-3H2zM9 5h5V2H9z',
  schedules: 'M2 4h12M2 8h12M2 12h8',
  fires: 'M8 1.5l1.8 4.4 4.7.4-3.6 3.1 1.1 4.6L8 11.5 4 14l1.1-4.6L1.5 6.3l4.7-.4z',
  timeline: 'M2 4h6M5 8h7M9 12h5',
  calendar: 'M2 3.5h12V14H2zM2 7h12M5 1.5v3M11 1.5v3',
  fleet: 'M2 2.5h12v4H2zM2 9.5h12v4H2zM4.5 4.5h.01M4.5 11.5h.01',
  alerts: 'M8 1.5l6.5 12h-13zM8 6v3.5M8 11.6h.01',
  activity: 'M1.5 8h3l2-5 3 10 2-5h3',
  audit: 'M4 1.5h6l3 3V14.5H4zM6 8l1.5 1.5L10.5 6.5M6 12h4',
  search: 'M7 2a5 5 0 100 10A5 5 0 007 2zM10.8 10.8L14.5 14.5',
  pause: 'M5 3v10M11 3v10',
  play: 'M4 2.5l9 5.5-9 5.5z',
  skip: 'M3 3l6 5-6 5zM12.5 3v10',
  fill: 'M2 8a6 6 0 111.8 4.3M2 12.5V9h3.5',
  edit: 'M2.5 13.5l.8-3.3L11 2.5l2.5 2.5-7.7 7.7zM9.3 4.2l2.5 2.5',
  bin: 'M2.5 4.5h11M6 4V2h4v2M4 4.5l.7 9.5h6.6l.7-9.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5V2.5h-8v8H5',
  save: 'M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11',
  sun: 'M8 5a3 3 0 100 6 3 3 0 000-6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  moon: 'M13.5 10A6 6 0 016 2.5 6 6 0 1013.5 10z',
  system: 'M1.5 3h13v8h-13zM5.5 14h5M8 11v3',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
