# SPDX-License-Identifier: MIT
# godot --headless --path FOLDER --script res://main.gd -- MODEL FILE...: the label of each file's text.
extends SceneTree


func _init() -> void:
	var arguments := OS.get_cmdline_user_args()
	var model := WeftModel.new()
	var fault := model.open(arguments[0])
	if fault:
		printerr("%s: %s" % [arguments[0], fault])
		quit(1)
		return
	for file in arguments.slice(1):
		print("%s: %s" % [file.get_file(), model.classify(FileAccess.get_file_as_string(file))])
	quit()
