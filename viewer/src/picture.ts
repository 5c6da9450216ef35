// The moving picture: a stage with shapes, lights and a camera that can be turned.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { is_dark } from "./colours";
import { row_at, type Item, type Report, type Triple, type View } from "./report";
import { make_shape, vector_at, type Shape, type Stage } from "./shapes";

const layers = ["ground", "trace", "box", "mesh", "disc", "sphere", "spring", "line", "rod", "point", "arrow"];

/// How far a mesh goes from its origin.
function reach(view: View, item: Item & { kind: "mesh" }): number {
  const { positions } = view.meshes[item.mesh];
  const scale = item.scale.map((c) => view.channels[c](0));
  let most = 0;
  for (let i = 0; i < positions.length; i += 3) most = Math.max(most, Math.hypot(...scale.map((s, k) => s * positions[i + k])));
  return most;
}

/// The box in which everything happens; or what there is in one row.
function extent(view: View, rows: number, only?: number): THREE.Box3 {
  const box = new THREE.Box3();
  const p = new THREE.Vector3();
  const add = (at: Triple, margin = 0) => {
    const stride = Math.max(1, Math.floor(rows / 400));
    for (let i = only ?? 0; i < (only === undefined ? rows : only + 1); i += stride) {
      vector_at(view, at, i, p);
      if (!Number.isFinite(p.x + p.y + p.z)) continue;
      box.expandByPoint(p.clone().addScalar(margin));
      box.expandByPoint(p.clone().addScalar(-margin));
    }
  };
  const flat = view.dimension === 2;
  for (const item of view.items) {
    if (item.kind === "point") add(item.at);
    else if (item.kind === "disc" || item.kind === "sphere") add(item.at, view.channels[item.radius](0));
    else if (item.kind === "box") add(item.at, 0.5 * Math.hypot(...item.size.slice(0, flat ? 2 : 3).map((c) => view.channels[c](0))));
    else if (item.kind === "mesh") add(item.at, reach(view, item));
    else if (item.kind === "rod" || item.kind === "spring") add(item.from), add(item.to);
    else if (item.kind === "line") item.through.forEach((at) => add(at));
    else if (item.kind === "trace" && only === undefined) add(item.of);
  }
  if (box.isEmpty()) box.expandByPoint(new THREE.Vector3());
  if (flat) box.min.z = box.max.z = 0;
  return box;
}

export class Picture {
  readonly canvas = document.createElement("canvas");
  private renderer: THREE.WebGLRenderer;
  private scene = new THREE.Scene();
  private camera: THREE.PerspectiveCamera | THREE.OrthographicCamera;
  private controls: OrbitControls;
  private shapes: Shape[] = [];
  private light = new THREE.DirectionalLight(0xffffff, 1.9);
  private sky = new THREE.HemisphereLight(0xffffff, 0xb9bec8, 1.5);
  private lamp = new THREE.DirectionalLight(0xffffff, 1.3); // goes with the camera
  private asked = false;
  private row = 0;
  private box: THREE.Box3;
  private size: number;
  private arrow_size: number;
  private unit_force = 0;
  private followed = new THREE.Vector3();
  private names: { at: Triple; element: HTMLElement }[] = [];
  force_size = 1;
  forces_shown = true;
  names_shown = false;
  readonly roles: Set<string>;

  /// Throws where the browser has no WebGL.
  constructor(private report: Report, private view: View, private overlay: HTMLElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas: this.canvas, antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.renderer.shadowMap.enabled = view.dimension === 3;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.box = extent(view, report.rows);
    this.size = this.box.getSize(new THREE.Vector3()).length() || 1;
    // Arrows suit the bodies, not the way they go: a small wheel on a long way has small arrows.
    let largest = 0;
    for (let k = 0; k < 8; ++k) largest = Math.max(largest, extent(view, report.rows, Math.floor((k / 7) * (report.rows - 1))).getSize(new THREE.Vector3()).length());
    this.arrow_size = largest > 0 ? Math.min(this.size, 2.5 * largest) : this.size;
    this.unit_force = this.largest_force();
    this.roles = new Set(view.items.flatMap((i) => (i.kind === "arrow" && i.role !== "user" && this.is_seen(i.vector) ? [i.role] : [])));

    this.camera =
      view.dimension === 2
        ? new THREE.OrthographicCamera(-1, 1, 1, -1, -100 * this.size, 100 * this.size)
        : new THREE.PerspectiveCamera(32, 1, this.size / 200, this.size * 60);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener("change", () => this.ask());
    this.controls.enableDamping = false;
    if (view.dimension === 2) {
      this.controls.enableRotate = false;
      this.controls.mouseButtons.LEFT = THREE.MOUSE.PAN;
      this.controls.touches = { ONE: THREE.TOUCH.PAN, TWO: THREE.TOUCH.DOLLY_PAN };
    }

    const stage: Stage = {
      view, rows: report.rows, row_time: report.t, size: this.size, arrow_size: this.arrow_size, centre: this.box.getCenter(new THREE.Vector3()),
      force_scale: () => (this.unit_force > 0 ? (this.force_size * 0.22 * this.arrow_size) / this.unit_force : 0),
      forces_shown: () => this.forces_shown,
    };
    for (const item of view.items) {
      const shape = make_shape(stage, item);
      this.shapes.push(shape);
      // A flat picture has layers: what matters most lies on top.
      const layer = new THREE.Group();
      if (view.dimension === 2) layer.position.z = layers.indexOf(item.kind) * 0.8 * this.size;
      layer.add(shape.object);
      this.scene.add(layer);
    }
    this.scene.add(this.sky, this.light, this.light.target, this.camera);
    this.camera.add(this.lamp);
    this.lamp.position.set(-0.3, 0.4, 1);
    if (view.dimension === 3 && !view.items.some((i) => i.kind === "ground")) this.add_floor(stage);
    this.place_light();
    this.fit();
    this.recolour();
    new ResizeObserver(() => this.resize()).observe(this.canvas);
  }

  add_name(at: Triple, text: string) {
    const element = document.createElement("span");
    element.className = "point-name";
    element.textContent = text;
    this.overlay.append(element);
    this.names.push({ at, element });
  }

  show(time: number) {
    this.row = row_at(this.report.t, time);
    for (const shape of this.shapes) shape.show(this.row);
    if (this.view.camera.follow) {
      const now = vector_at(this.view, this.view.camera.follow, this.row, new THREE.Vector3());
      if (Number.isFinite(now.x + now.y + now.z)) {
        const moved = now.clone().sub(this.followed);
        this.camera.position.add(moved);
        this.controls.target.add(moved);
        this.followed.copy(now);
      }
    }
    this.ask();
  }
  refresh() {
    for (const shape of this.shapes) shape.show(this.row);
    this.ask();
  }
  recolour() {
    for (const shape of this.shapes) shape.recolour();
    this.sky.intensity = is_dark() ? 1.0 : 1.5;
    this.ask();
  }

  /// The whole motion in sight, or what [view] says.
  fit() {
    const { camera, view, controls, box } = this;
    const centre = box.getCenter(new THREE.Vector3());
    const given = (t?: Triple) => (t ? new THREE.Vector3(...t) : undefined);
    if (camera instanceof THREE.OrthographicCamera) {
      const at = given(view.camera.at) ?? centre;
      controls.target.set(at.x, at.y, 0);
      camera.position.set(at.x, at.y, 10 * this.size);
      camera.zoom = 1;
    } else {
      const up = given(view.camera.up) ?? new THREE.Vector3(0, 0, 1);
      camera.up.copy(up).normalize();
      const at = given(view.camera.at) ?? centre;
      // A little from above, from the side that most people draw.
      let from = given(view.camera.from);
      if (!from) {
        const side = up.clone().cross(Math.abs(up.x) < 0.9 * up.length() ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 1, 0)).normalize();
        const front = side.clone().cross(camera.up).normalize();
        const direction = front.multiplyScalar(0.55).addScaledVector(side, -1).addScaledVector(camera.up, 0.42).normalize();
        from = at.clone().addScaledVector(direction, this.distance());
      }
      controls.target.copy(at);
      camera.position.copy(from);
    }
    const follow = view.camera.follow;
    if (follow) {
      // At the point itself, or as far from it as `at` is at the start.
      const from = view.camera.at ? vector_at(view, follow, 0, new THREE.Vector3()) : controls.target.clone();
      const moved = vector_at(view, follow, this.row, this.followed).clone().sub(from);
      if (Number.isFinite(moved.x + moved.y + moved.z)) {
        camera.position.add(moved);
        controls.target.add(moved);
      }
    }
    this.resize();
    controls.update();
    this.ask();
  }

  /// Turns the camera by steps, for the keyboard.
  orbit(across: number, along: number) {
    const offset = this.camera.position.clone().sub(this.controls.target);
    if (this.camera instanceof THREE.OrthographicCamera) {
      const step = 0.05 * this.size / this.camera.zoom;
      const moved = new THREE.Vector3(across * step, along * step, 0);
      this.camera.position.add(moved);
      this.controls.target.add(moved);
    } else {
      offset.applyAxisAngle(this.camera.up, across * 0.1);
      const side = offset.clone().cross(this.camera.up).normalize();
      const turned = offset.clone().applyAxisAngle(side, along * 0.08);
      if (turned.clone().cross(this.camera.up).length() > 0.1 * turned.length()) offset.copy(turned);
      this.camera.position.copy(this.controls.target).add(offset);
    }
    this.controls.update();
    this.ask();
  }
  zoom(factor: number) {
    if (this.camera instanceof THREE.OrthographicCamera) {
      this.camera.zoom *= factor;
      this.camera.updateProjectionMatrix();
    } else {
      const offset = this.camera.position.clone().sub(this.controls.target).divideScalar(factor);
      this.camera.position.copy(this.controls.target).add(offset);
    }
    this.controls.update();
    this.ask();
  }

  private distance() {
    const camera = this.camera as THREE.PerspectiveCamera;
    const aspect = (this.canvas.clientWidth || 4) / (this.canvas.clientHeight || 3);
    const half = Math.tan((camera.fov * Math.PI) / 360) * Math.min(1, aspect);
    return (0.52 * this.size) / half;
  }

  private resize() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    if (this.camera instanceof THREE.OrthographicCamera) {
      const extent = this.box.getSize(new THREE.Vector3());
      const margin = 0.16 * this.size;
      const wanted = this.view.camera.height ?? Math.max(extent.y + margin, ((extent.x + margin) * height) / width);
      const half = wanted / 2;
      this.camera.top = half, this.camera.bottom = -half;
      this.camera.right = (half * width) / height, this.camera.left = -this.camera.right;
    } else {
      this.camera.aspect = width / height;
    }
    this.camera.updateProjectionMatrix();
    for (const shape of this.shapes) shape.resize?.(width, height);
    this.ask();
  }

  private ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.renderer.render(this.scene, this.camera);
      this.place_names();
    });
  }

  private place_names() {
    const p = new THREE.Vector3();
    for (const { at, element } of this.names) {
      vector_at(this.view, at, this.row, p).project(this.camera);
      element.hidden = !this.names_shown || !Number.isFinite(p.x + p.y) || p.z > 1;
      element.style.transform =
        `translate(${((p.x + 1) / 2) * this.canvas.clientWidth + 8}px, ${((1 - p.y) / 2) * this.canvas.clientHeight - 20}px)`;
    }
  }

  private is_seen(vector: Triple): boolean {
    const v = new THREE.Vector3();
    for (let i = 0; i < this.report.rows; ++i)
      if (vector_at(this.view, vector, i, v).length() > 1e-6 * this.unit_force) return true;
    return false;
  }

  /// Of all force arrows, but for the few largest: a blow must not make everything else invisible.
  private largest_force(): number {
    const lengths: number[] = [];
    const v = new THREE.Vector3();
    const stride = Math.max(1, Math.floor(this.report.rows / 500));
    for (const item of this.view.items)
      if (item.kind === "arrow" && item.role !== "user")
        for (let i = 0; i < this.report.rows; i += stride) {
          const length = vector_at(this.view, item.vector, i, v).length();
          if (Number.isFinite(length)) lengths.push(length);
        }
    lengths.sort((a, b) => a - b);
    return lengths.length ? lengths[Math.floor(0.98 * (lengths.length - 1))] || lengths[lengths.length - 1] : 0;
  }

  private place_light() {
    const up = this.view.dimension === 2 ? new THREE.Vector3(0, 1, 0) : new THREE.Vector3(...(this.view.camera.up ?? [0, 0, 1])).normalize();
    const centre = this.box.getCenter(new THREE.Vector3());
    const aside = this.view.dimension === 2 ? new THREE.Vector3(-0.5, 0.6, 1) : new THREE.Vector3(0.35, -0.45, 0.2);
    this.light.target.position.copy(centre);
    this.light.position.copy(centre).addScaledVector(up, 1.5 * this.size).addScaledVector(aside, this.size);
    this.light.castShadow = this.view.dimension === 3;
    const shadow = this.light.shadow;
    shadow.mapSize.set(2048, 2048);
    shadow.radius = 4;
    shadow.bias = -0.0005;
    shadow.normalBias = 0.002 * this.size;
    Object.assign(shadow.camera, { left: -this.size, right: this.size, top: this.size, bottom: -this.size, near: 0.1 * this.size, far: 4 * this.size });
  }

  /// Something to judge heights by, where the model draws no ground: a grid under everything.
  private add_floor(stage: Stage) {
    const up = new THREE.Vector3(...(this.view.camera.up ?? [0, 0, 1])).normalize();
    const corners = [this.box.min, this.box.max].map((c) => c.dot(up));
    const centre = this.box.getCenter(new THREE.Vector3());
    const at = centre.addScaledVector(up, Math.min(...corners) - 0.06 * this.size - centre.dot(up));
    const base = this.view.channels.length;
    this.view.channels.push(...[at.x, at.y, at.z, up.x, up.y, up.z, 2 * this.size].map((x) => () => x));
    const shape = make_shape(stage, {
      kind: "ground", name: "", at: [base, base + 1, base + 2], normal: [base + 3, base + 4, base + 5], size: base + 6,
    });
    this.shapes.push(shape);
    this.scene.add(shape.object);
  }
}
