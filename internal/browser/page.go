package browser

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Page is an open page.
type Page struct {
	b       *Browser
	session string
}

// Open opens a page of 1440 by 900 and waits until it has loaded.
func (b *Browser) Open(url string) (*Page, error) {
	var target struct{ TargetID string }
	if err := b.into(&target, "", "Target.createTarget", map[string]any{"url": "about:blank"}); err != nil {
		return nil, err
	}
	var attached struct{ SessionID string }
	if err := b.into(&attached, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}); err != nil {
		return nil, err
	}
	p := &Page{b, attached.SessionID}
	for _, domain := range []string{"Page.enable", "Runtime.enable", "Performance.enable"} {
		if err := p.do(domain, nil); err != nil {
			return nil, err
		}
	}
	size := map[string]any{"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": false}
	if err := p.do("Emulation.setDeviceMetricsOverride", size); err != nil {
		return nil, err
	}
	if err := p.do("Page.navigate", map[string]any{"url": url}); err != nil {
		return nil, err
	}
	return p, p.Wait(`location.href !== "about:blank" && document.readyState === "complete"`)
}

func (b *Browser) into(result any, session, method string, params map[string]any) error {
	raw, err := b.call(session, method, params)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

func (p *Page) do(method string, params map[string]any) error {
	_, err := p.b.call(p.session, method, params)
	return err
}

// Eval evaluates an expression in the page, waits for it if it is a promise, and decodes its value; result may be nil.
func (p *Page) Eval(expression string, result any) error {
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	params := map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}
	if err := p.b.into(&answer, p.session, "Runtime.evaluate", params); err != nil {
		return err
	}
	if d := answer.ExceptionDetails; d != nil {
		return fmt.Errorf("%s: %s %s", expression, d.Text, d.Exception.Description)
	}
	if result == nil {
		return nil
	}
	if answer.Result.Value == nil {
		return fmt.Errorf("%s has no value", expression)
	}
	return json.Unmarshal(answer.Result.Value, result)
}

// Wait waits until an expression is true.
func (p *Page) Wait(condition string) error {
	for deadline := time.Now().Add(patience); ; {
		var ok bool
		err := p.Eval("!!("+condition+")", &ok)
		if err == nil && ok {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: not true within %v (%v)", condition, patience, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Click clicks into the middle of the first element that a selector finds.
func (p *Page) Click(selector string) error {
	var at []float64
	find := `(() => { const e = document.querySelector(` + strconv.Quote(selector) + `); if (!e) return []; e.scrollIntoView({ block: "nearest" });
		const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`
	if err := p.Eval(find, &at); err != nil {
		return err
	}
	if len(at) != 2 {
		return fmt.Errorf("there is no %s in the page", selector)
	}
	return p.ClickAt(at[0], at[1])
}

// ClickAt clicks at a point of the window.
func (p *Page) ClickAt(x, y float64) error {
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		event := map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
		if kind == "mouseMoved" {
			event["button"] = "none"
		}
		if err := p.do("Input.dispatchMouseEvent", event); err != nil {
			return err
		}
	}
	return nil
}

// Type types a text into what has the focus.
func (p *Page) Type(text string) error {
	return p.do("Input.insertText", map[string]any{"text": text})
}

// Key presses a key by its name: a, Enter, ArrowDown.
func (p *Page) Key(key string) error {
	for _, kind := range []string{"keyDown", "keyUp"} {
		event := map[string]any{"type": kind, "key": key}
		if len(key) == 1 && kind == "keyDown" {
			event["text"] = key
		}
		if err := p.do("Input.dispatchKeyEvent", event); err != nil {
			return err
		}
	}
	return nil
}

// Dark chooses the dark colours, or the light ones.
func (p *Page) Dark(dark bool) error {
	value := "light"
	if dark {
		value = "dark"
	}
	feature := []map[string]string{{"name": "prefers-color-scheme", "value": value}}
	return p.do("Emulation.setEmulatedMedia", map[string]any{"features": feature})
}

// Metric is a figure of the page: JSHeapUsedSize, Nodes, LayoutCount and so on.
func (p *Page) Metric(name string) (float64, error) {
	var all struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	if err := p.b.into(&all, p.session, "Performance.getMetrics", nil); err != nil {
		return 0, err
	}
	for _, m := range all.Metrics {
		if m.Name == name {
			return m.Value, nil
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
}
