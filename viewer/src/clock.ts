// The time that is shown, for every part of the page.

export class Clock {
  time: number;
  playing = false;
  speed = 1; // seconds of the motion for a second of the watch
  loop = true;
  private listeners: ((time: number) => void)[] = [];
  private state_listeners: (() => void)[] = [];
  private last = 0;

  constructor(readonly begin: number, readonly end: number) {
    this.time = begin;
  }
  on_time(f: (time: number) => void) {
    this.listeners.push(f);
  }
  on_state(f: () => void) {
    this.state_listeners.push(f);
  }
  set(time: number) {
    this.time = Math.min(this.end, Math.max(this.begin, time));
    for (const f of this.listeners) f(this.time);
  }
  play(playing: boolean) {
    if (playing === this.playing) return;
    if (playing && this.time >= this.end) this.set(this.begin);
    this.playing = playing;
    this.last = 0;
    if (playing) requestAnimationFrame(this.tick);
    this.changed();
  }
  set_speed(speed: number) {
    this.speed = speed;
    this.changed();
  }
  private changed() {
    for (const f of this.state_listeners) f();
  }
  private tick = (now: number) => {
    if (!this.playing) return;
    // A page that was hidden does not jump.
    const passed = this.last ? Math.min(0.1, (now - this.last) / 1000) : 0;
    this.last = now;
    let time = this.time + passed * this.speed;
    if (time >= this.end) {
      if (this.loop && this.end > this.begin) time = this.begin;
      else {
        this.set(this.end);
        this.play(false);
        return;
      }
    }
    this.set(time);
    requestAnimationFrame(this.tick);
  };
}
